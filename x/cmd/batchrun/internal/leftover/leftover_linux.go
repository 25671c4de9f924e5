// Package leftover finds processes that tests have started and left behind.
package leftover

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long processes may take to end after they were asked to.
const patience = 20 * time.Second

// Run runs the tests and returns the exit status. The tests fail if a process that
// they started, or a descendant of it, is still alive at their end.
func Run(m *testing.M) int { return run(m, patience, os.Stderr) }

func run(m interface{ Run() int }, patience time.Duration, to io.Writer) int {
	// Descendants whose parents have ended become children of this process.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(to, "adopt processes:", err)
		return 1
	}

	status := m.Run()
	left := await(time.Now().Add(patience))
	for _, pid := range left {
		fmt.Fprintf(to, "FAIL: the tests have left process %d: %s\n", pid, commandLine(pid))
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	if len(left) > 0 {
		return max(status, 1)
	}
	return status
}

// await waits until no child is alive, or until the deadline. It returns the children that are
// alive.
func await(deadline time.Time) []int {
	for {
		left := living()
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// living returns the children that are alive. It reaps the children that have ended.
func living() (left []int) {
	for _, pid := range children() {
		if ended, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); ended == 0 && err == nil {
			left = append(left, pid)
		}
	}
	return left
}

// children returns the children of all threads of this process.
func children() (pids []int) {
	files, _ := filepath.Glob("/proc/self/task/*/children")
	for _, file := range files {
		data, _ := os.ReadFile(file)
		for _, word := range strings.Fields(string(data)) {
			if pid, err := strconv.Atoi(word); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func commandLine(pid int) []byte {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return bytes.TrimSpace(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
}
