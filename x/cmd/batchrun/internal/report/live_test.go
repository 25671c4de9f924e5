package report

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/control"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/logs"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

var begin = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// screen is a terminal of this size. It shows live lines, a minute and five seconds after the jobs
// began.
func screen(width, height int) (*live, *bytes.Buffer) {
	var b bytes.Buffer
	return &live{out: &b, size: func() (int, int) { return width, height }, layout: time.TimeOnly,
		now: func() time.Time { return begin.Add(65 * time.Second) }, stop: make(chan struct{})}, &b
}

func round(name string, completions, succeeded, failed int32) control.Round {
	return control.Round{
		Job:  &store.Job{Namespace: "default", Name: name, Created: begin},
		Spec: &job.Spec{Completions: &completions}, Status: job.Status{Active: 3, Succeeded: succeeded, Failed: failed},
		Pending: 2,
	}
}

func TestFrame(t *testing.T) {
	long := strings.Repeat("a-very-long-name-", 3) + "20261122"
	for _, test := range []struct {
		width int
		want  string
	}{
		{160, "hello  [###########-----------]  1m05s  20/40 done, 3 active  2 not started yet"},
		{80, "hello  [###########-----------]  1m05s  20/40 done, 3 active  2 not started yet"},
		{40, "hello  1m05s  20/40 done, 3 active  2 …"},
		{12, "hello  1m0…"},
	} {
		l, _ := screen(test.width, 24)
		l.Round(round("hello", 40, 20, 0))
		l.Round(round(long, 7, 0, 4))
		frame := l.frame(test.width, 24)
		if len(frame) != 2 || frame[0] != test.want {
			t.Errorf("width %d: %q", test.width, frame)
		}
		for _, line := range frame {
			if w := runewidth.StringWidth(line); w >= test.width {
				t.Errorf("width %d: %q has %d columns", test.width, line, w)
			}
		}
		if test.width >= 40 && !strings.Contains(frame[1], "…") && !strings.HasPrefix(frame[1], long) {
			t.Errorf("width %d: %q", test.width, frame[1])
		}
	}
}

// A frame leaves half of the screen for the text above, however many jobs there are.
func TestFrame_ManyJobs(t *testing.T) {
	for height, most := range map[int]int{4: 2, 5: 3, 24: 12, 1: 1} {
		l, _ := screen(80, height)
		for i := range 100 {
			l.Round(round(fmt.Sprint("job-", i), 1, 0, 0))
		}
		frame := l.frame(80, height)
		if len(frame) != most {
			t.Errorf("height %d: %d lines", height, len(frame))
		}
		if rest := fmt.Sprintf("... and %d more", 100-most+1); most > 1 && !strings.HasPrefix(frame[most-1], rest) {
			t.Errorf("height %d: no %q in %q", height, rest, frame)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, test := range []struct {
		name  string
		width int
		want  string
	}{
		{"short", 8, "short"},
		{"exactly8", 8, "exactly8"},
		{"nightly-backup-29384756", 12, "nightl…84756"},
		{"日本語日本語日本語", 9, "日本…本語"},
	} {
		if have := Shorten(test.name, test.width); have != test.want || runewidth.StringWidth(have) > test.width {
			t.Errorf("%s in %d: %q", test.name, test.width, have)
		}
	}
}

func TestElapsed(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", 61 * time.Second: "1m01s", 3 * time.Hour: "3h00m", 49*time.Hour + time.Minute: "2d01h", 24*time.Hour - time.Second: "23h59m",
	} {
		if have := Elapsed(d); have != want {
			t.Errorf("%v: %s", d, have)
		}
	}
}

// emulate returns the lines on a terminal of a width. It knows the sequences that live writes, and
// wraps long lines.
func emulate(width int, output string) (lines []string) {
	rows, at := []string{""}, 0
	for output != "" {
		var n int
		switch {
		case strings.HasPrefix(output, "\x1b[J"):
			rows, output = rows[:at+1], output[3:]
			rows[at] = ""
		case strings.HasPrefix(output, "\x1b["):
			_, _ = fmt.Sscanf(output, "\x1b[%dA", &n)
			at = max(0, at-n)
			output = output[strings.Index(output, "A")+1:]
		case output[0] == '\r':
			output = output[1:]
		case output[0] == '\n':
			if at++; at == len(rows) {
				rows = append(rows, "")
			}
			output = output[1:]
		default:
			r := []rune(output)[0]
			if runewidth.StringWidth(rows[at])+runewidth.RuneWidth(r) > width {
				at++
				rows = append(rows, "")
			}
			rows[at] += string(r)
			output = output[len(string(r)):]
		}
	}
	return rows
}

// The text above stays, there is one copy of the live lines, and the echo of Ctrl-C on the terminal
// disappears.
func TestLive(t *testing.T) {
	l, b := screen(60, 24)
	l.Note("a note")
	l.Round(round("hello", 2, 0, 0))
	l.draw("")
	l.Log(logs.Line{Pod: "hello-0-abcde", Text: []byte("a line of the pod that is longer than the terminal is wide, so that it wraps")})
	l.Log(logs.Line{Pod: "hello-1-abcde", Container: "main", Text: []byte("control \x1b[2J")})
	b.WriteString("^C")
	r := round("hello", 2, 1, 1)
	r.Err, r.Events = errors.New("disk full"), []job.Event{{Type: job.EventWarning, Reason: "BackoffLimitExceeded", Message: "too many"}}
	l.Round(r)
	l.End(r.Job, job.Status{Succeeded: 1, Failed: 1}, &Failure{
		Pod: "hello-0-abcde", Container: "main", ExitCode: 3, Log: []string{"why"},
		Next: [][2]string{{"batchrun logs hello", "all"}, {"batchrun rm hello", "again"}}})
	l.Close()
	want := []string{
		"a note",
		"hello-0-abcde | a line of the pod that is longer than the te",
		"rminal is wide, so that it wraps",
		`hello-1-abcde/main | control \u001b[2J`,
		"hello: disk full; trying again",
		"hello: BackoffLimitExceeded: too many",
		"hello: Running; active 0, succeeded 1/2, failed 1; after 1m0",
		"5s",
		"  pod hello-0-abcde, container main, ended with exit status ",
		"3; its last lines:",
		"    | why",
		"  next: batchrun logs hello  # all",
		"        batchrun rm hello    # again",
		"",
	}
	if have := emulate(60, b.String()); !slices.Equal(have, want) {
		t.Errorf("\n%s", strings.Join(have, "\n"))
	}
}

// A terminal that becomes narrower wraps the live lines. They are still removed.
func TestLive_Resized(t *testing.T) {
	width := 100
	var b bytes.Buffer
	l, _ := screen(0, 0)
	l.out, l.size = &b, func() (int, int) { return width, 24 }
	l.Round(round("hello", 2, 0, 0))
	l.draw("")
	first := strings.TrimSuffix(b.String(), "\n")
	if rows := rowsOf(l.drawn, 30); rows != (runewidth.StringWidth(first)+29)/30 || rows < 2 {
		t.Errorf("%q has %d rows of 30 columns", first, rows)
	}
	width = 30
	l.draw("")
	have := emulate(30, b.String())
	if len(have) != 2 || !strings.HasPrefix(have[0], "hello  1m05s") {
		t.Errorf("%q", have)
	}
}
