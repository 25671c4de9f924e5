//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/batchplan/batchplan/internal/must"
)

// terminal returns both ends of a pseudo terminal that has a size.
func terminal(t *testing.T, rows, columns uint16) (outer, inner *os.File) {
	t.Helper()
	outer, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { outer.Close() })
	fd := int(outer.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
	}
	must.OK(t, err)
	inner, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	must.OK(t, err)
	return outer, inner
}

// On a terminal, the notes are written before the first live line is drawn, and stay. If a terminal
// has too few rows, there is a line for each event instead.
func TestTerminal(t *testing.T) {
	for _, test := range []struct {
		rows uint16
		live bool
	}{{24, true}, {4, true}, {3, false}, {0, false}} {
		t.Run(fmt.Sprint(test.rows, " rows"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			outer, inner := terminal(t, test.rows, 80)
			cmd := w.command("run", "testdata/mixed.yaml")
			cmd.Stdout, cmd.Stderr = inner, inner
			must.OK(t, cmd.Start())
			inner.Close()
			data, _ := io.ReadAll(outer) // reading ends with an error when the other end is closed
			_ = cmd.Wait()
			text := string(data)
			notes := strings.Index(text, "each pod runs in a")
			if notes < 0 {
				notes = strings.Index(text, "a second process ends what")
			}
			escape := strings.Index(text, "\x1b[")
			if test.live != (escape >= 0) || escape >= 0 && escape < notes || notes < 0 ||
				!strings.Contains(text, "other/bad: Failed") {
				t.Errorf("notes at %d, first escape at %d in %q", notes, escape, text)
			}
		})
	}
}
