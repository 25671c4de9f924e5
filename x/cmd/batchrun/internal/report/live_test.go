package report

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/control"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/logs"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

var begin = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// screen is a terminal of this size that shows live lines. The jobs began a minute and five seconds
// ago.
func screen(width, height int) (*live, *bytes.Buffer) {
	var b bytes.Buffer
	return &live{out: &b, size: func() (int, int) { return width, height }, layout: time.TimeOnly,
		now: func() time.Time { return begin.Add(65 * time.Second) }, stop: make(chan struct{})}, &b
}

func round(name string, completions, succeeded, failed int32) control.Round {
	return control.Round{
		Job:  &store.Job{Namespace: "default", Name: name, UID: job.UID("of-" + name), Created: begin},
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

// TestFrame_NoBar: a job has a bar only if it has completions to count.
func TestFrame_NoBar(t *testing.T) {
	l, _ := screen(100, 24)
	none, queue := round("none", 0, 0, 0), round("queue", 0, 1, 0)
	queue.Spec.Completions, queue.Pending = nil, 0
	l.Round(none)
	l.Round(queue)
	want := []string{"none  1m05s  0/0 done, 3 active  2 not started yet", "queue  1m05s  1 done, 3 active"}
	if frame := l.frame(100, 24); !slices.Equal(frame, want) {
		t.Errorf("%q, want %q", frame, want)
	}
}

// However many jobs there are, a frame leaves half of the screen for the text above it.
func TestFrame_ManyJobs(t *testing.T) {
	for height, most := range map[int]int{4: 2, 5: 3, 24: 12, 1: 1, 3: 1} {
		l, _ := screen(80, height)
		for i := range most {
			l.Round(round(fmt.Sprint("job-", i), 1, 0, 0))
		}
		if frame := l.frame(80, height); len(frame) != most || strings.Contains(fmt.Sprint(frame), "more") {
			t.Errorf("height %d: the lines of %d jobs: %q", height, most, frame)
		}
		for i := most; i < 100; i++ {
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

// TestRowsOf: a line that fills its row takes one, a longer one takes two, and an empty one also takes one.
func TestRowsOf(t *testing.T) {
	for w, want := range map[int]int{0: 1, 1: 1, 10: 1, 11: 2, 20: 2, 21: 3} {
		if got := rowsOf([]int{w}, 10); got != want {
			t.Errorf("a line of %d columns takes %d rows of 10, want %d", w, got, want)
		}
	}
	if got := rowsOf([]int{3, 0}, 0); got != 3 {
		t.Errorf("%d rows without a width", got)
	}
}

// TestPrefixes: all lines of logs begin in the column of the longest name so far. Up to 40 columns are
// reserved, and longer names can be shortened.
func TestPrefixes(t *testing.T) {
	name := func(n int) *logs.Line { return &logs.Line{Pod: strings.Repeat("x", n)} }
	for _, test := range []struct{ most, longest, width int }{{0, 5, 5}, {0, 40, 40}, {0, 41, 40}, {30, 41, 30}} {
		p := prefixes{most: test.most}
		_ = p.of(name(test.longest))
		if got, want := p.of(name(1)), "x"+strings.Repeat(" ", test.width-1)+" | "; got != want {
			t.Errorf("after %d columns of at most %d: %q, want %q", test.longest, test.most, got, want)
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
		-time.Second: "0s", 59 * time.Second: "59s", time.Minute: "1m00s", time.Hour: "1h00m", 24 * time.Hour: "1d00h", 61 * time.Second: "1m01s", 3 * time.Hour: "3h00m", 49*time.Hour + time.Minute: "2d01h", 24*time.Hour - time.Second: "23h59m",
	} {
		if have := Elapsed(d); have != want {
			t.Errorf("%v: %s", d, have)
		}
	}
}

// emulate returns the lines that a terminal of this width shows. It handles the control sequences
// that live writes, and wraps long lines.
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

// The text above the live lines stays, the live lines are shown once, and the echo of Ctrl-C
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

// TestLive_SameName: a job gets a line even if an ended job has the same name, and a CronJob of that
// name gets another line.
func TestLive_SameName(t *testing.T) {
	l, _ := screen(60, 24)
	first, second := round("hello", 2, 0, 0), round("hello", 3, 1, 0)
	second.Job.UID = "another"
	l.Round(first)
	l.End(first.Job, job.Status{}, nil)
	l.Round(second)
	l.CronRound(control.CronRound{CronJob: &store.CronJob{Namespace: "default", Name: "hello", UID: "cron"}})

	got := l.frame(60, 24)
	if len(got) != 2 || !strings.Contains(got[0], "1/3 done") || strings.Contains(got[1], "done") {
		t.Errorf("%q", got)
	}
}

// TestLive_Removed: the line of a removed job or CronJob goes. The note about it stays.
func TestLive_Removed(t *testing.T) {
	l, b := screen(60, 24)
	l.Round(round("long", 2, 0, 0))
	l.Round(round("stays", 2, 0, 0))
	l.CronRound(control.CronRound{CronJob: &store.CronJob{Namespace: "default", Name: "tick", UID: "cron"}})
	l.draw("")
	l.Removed("of-long", "job long: removed")
	l.Removed("cron", "CronJob tick: removed")

	want := []string{"job long: removed", "CronJob tick: removed", l.frame(60, 24)[0], ""}
	if got := emulate(60, b.String()); !slices.Equal(got, want) || !strings.HasPrefix(want[2], "stays") {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLive_Rounds: jobs and CronJobs have live lines. The jobs of CronJobs are written above them.
func TestLive_Rounds(t *testing.T) {
	l, b := screen(100, 24)
	lines(l, begin)
	run := round("tick-1", 2, 0, 0)
	run.Job.CronJob = "tick"
	l, runs := screen(100, 24)
	l.Round(run)
	l.End(run.Job, job.Status{}, &Failure{Pod: "tick-1-x"})
	l.Close()
	want := []string{
		"hello: status.ready: -1: must not be negative",
		"hello: BackoffLimitExceeded: too many",
		"tick: disk full; trying again",
		"a note",
		"job bye: removed",
		"hello  [###########-----------]  1m05s  1/2 done, 3 active, 1 failed  3 active pods not finished; …",
		"tick  active 0",
		"hello: Suspended; active 0, succeeded 0/2, failed 0; after 1m05s",
		"hello: Complete (CompletionsReached: Reached); active 0, succeeded 2/2, failed 0; after 1m05s",
		"",
	}
	if got := emulate(100, b.String()); !slices.Equal(got, want) {
		t.Errorf("\n%s", strings.Join(got, "\n"))
	}
	if got := emulate(100, runs.String()); !slices.Equal(got, []string{"tick-1: Running", "  pod tick-1-x", ""}) {
		t.Errorf("%q", got)
	}
}

// TestLive_Names: the name of a pod takes at most a third of the terminal's width, but twelve
// columns are always allowed.
func TestLive_Names(t *testing.T) {
	for width, most := range map[int]int{20: 12, 36: 12, 39: 13, 60: 20} {
		l, b := screen(width, 24)
		l.Log(logs.Line{Pod: strings.Repeat("x", 30), Text: []byte("text")})
		name, _, _ := strings.Cut(b.String(), " | ")
		if got := runewidth.StringWidth(name); got != most {
			t.Errorf("width %d: %q has %d columns, want %d", width, name, got, most)
		}
	}
}

// writes counts its writes.
type writes int

func (w *writes) Write(p []byte) (int, error) { *w++; return len(p), nil }

// TestLive_Redraw: a change is drawn with the next frame. As long as there are lines, a frame is
// drawn each second, since lines show times.
func TestLive_Redraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := screen(100, 24)
		var drawn writes
		l.out = &drawn
		l.over.Go(l.redraw)
		expect := func(after time.Duration, want writes) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			l.mu.Lock()
			defer l.mu.Unlock()
			if drawn != want {
				t.Errorf("%d frames, want %d", drawn, want)
			}
			drawn = 0
		}

		one, two := round("one", 2, 0, 0), round("two", 2, 0, 0)
		expect(250*time.Millisecond, 0)
		l.Round(one)
		expect(49*time.Millisecond, 0)
		expect(1*time.Millisecond, 1)   // at 0.3 s
		expect(799*time.Millisecond, 0) // nothing has changed
		expect(1*time.Millisecond, 1)   // at 1.1 s
		l.Round(two)
		expect(100*time.Millisecond, 1)
		l.End(one.Job, job.Status{}, nil)
		expect(100*time.Millisecond, 1)
		expect(time.Second, 1)
		if frame := l.frame(100, 24); len(frame) != 1 || !strings.HasPrefix(frame[0], "two") {
			t.Errorf("%q", frame)
		}
		l.End(two.Job, job.Status{}, nil)
		expect(100*time.Millisecond, 1)
		expect(time.Minute, 0)
		l.CronRound(control.CronRound{CronJob: &store.CronJob{Name: "tick"}})
		expect(100*time.Millisecond, 1)
		expect(time.Second, 1)
		l.Close()
	})
}

// TestNewLive: an output that is not a terminal has a default size, and no room for live lines.
func TestNewLive(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	must.OK(t, err)
	defer out.Close()
	if FitLive(out) {
		t.Error("a file has room for live lines")
	}
	l := NewLive(out, time.TimeOnly, func() time.Time { return begin })
	r := round("hello", 2, 0, 0)
	r.Pending, r.Requeue = 0, job.Requeue{At: begin}
	l.Round(r)
	l.Close()
	data, err := os.ReadFile(out.Name())
	must.OK(t, err)
	want := cut("hello  [----------------------]  0s  0/2 done, 3 active  next round at "+begin.Local().Format("15:04:05 MST"), 80)
	if lines := emulate(80, string(data)); !slices.Equal(lines, []string{want, ""}) {
		t.Errorf("%q, want %q", lines, want)
	}
}

// If a terminal becomes narrower, it wraps the live lines. They are still removed.
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
