package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// TestCheck has each option at its bounds.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*runOptions)
		want string
	}{
		{"the defaults", func(*runOptions) {}, ""},
		{"follow", func(o *runOptions) { o.follow = "p" }, ""},
		{"follow and quiet", func(o *runOptions) { o.follow, o.quiet = "p", true }, "--follow: cannot"},
		{"follow and JSON", func(o *runOptions) { o.follow, o.output = "p", "json" }, "--follow: cannot"},
		{"quiet", func(o *runOptions) { o.quiet = true }, ""},
		{"another output", func(o *runOptions) { o.output = "wide" }, `--output: "wide": must be`},
		{"plain", func(o *runOptions) { o.output = "plain" }, ""},
		{"no pod", func(o *runOptions) { o.parallel = 0 }, "--parallel: 0: must be at least 1"},
		{"logs of any size", func(o *runOptions) { o.maxLog = "0" }, ""},
		{"logs below no size", func(o *runOptions) { o.maxLog = "-1" }, `--max-log: "-1": must be`},
		{"logs of no size", func(o *runOptions) { o.maxLog = "big" }, `--max-log: "big": must be`},
		{"no speed", func(o *runOptions) { o.speed = 0 }, "--speed: 0: must be above 0"},
		{"slow", func(o *runOptions) { o.speed = 0.001 }, ""},
		{"fast", func(o *runOptions) { o.speed = maxSpeed }, ""},
		{"too fast", func(o *runOptions) { o.speed = maxSpeed + 1 }, "--speed: 100001: must be"},
		{"any runs", func(o *runOptions) { o.runs = 0 }, ""},
		{"fewer runs than none", func(o *runOptions) { o.runs = -1 }, "--runs: -1: must not be"},
		{"no backoff", func(o *runOptions) { o.backoff.Base = 0 }, "--backoff: 0s: must be positive"},
		{"no longest backoff", func(o *runOptions) { o.backoff.Max = 0 }, "--backoff-max: 0s: must be positive"},
		{"no restart delay", func(o *runOptions) { o.restartDelay = 0 }, "--restart-delay: 0s: must be positive"},
		{"no longest restart delay", func(o *runOptions) { o.restartDelayMax = -1 }, "--restart-delay-max: -1ns: must be positive"},
	} {
		o := runOptions{output: "auto", parallel: 1, maxLog: "1Ki", speed: 1, restartDelay: 1, restartDelayMax: 1}
		o.backoff.Base, o.backoff.Max = 1, 1
		c.set(&o)
		err := o.check()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if o.maxLog == "1Ki" && c.want == "" && o.logBytes != 1024 {
			t.Errorf("%s: logs of %d bytes", c.name, o.logBytes)
		}
	}
}

// TestParseTime has a time in each form, and durations.
func TestParseTime(t *testing.T) {
	zone := time.Local
	time.Local = time.FixedZone("here", 3600)
	t.Cleanup(func() { time.Local = zone })
	for text, want := range map[string]string{
		"36h":                  "2126-07-03T00:00:00Z",
		"-30m":                 "2126-07-01T11:30:00Z",
		"2026-01-31T18:00:01Z": "2026-01-31T18:00:01Z",
		"2026-01-31T18:00:01":  "2026-01-31T17:00:01Z",
		"2026-01-31T18:00":     "2026-01-31T17:00:00Z",
		"2026-01-31 18:00:01":  "2026-01-31T17:00:01Z",
		"2026-01-31 18:00":     "2026-01-31T17:00:00Z",
		"2026-01-31":           "2026-01-30T23:00:00Z",
		"tomorrow":             "",
		"":                     "",
	} {
		got, err := parseTime(text, now)
		if (err == nil) != (want != "") || err == nil && got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// TestUntil: --until and --runs need a CronJob, and a time that is not over.
func TestUntil(t *testing.T) {
	for _, c := range []struct {
		until string
		runs  int
		crons bool
		want  time.Time
		fails string
	}{
		{"", 0, false, time.Time{}, ""},
		{"", 0, true, time.Time{}, ""},
		{"", 1, true, time.Time{}, ""},
		{"", 1, false, time.Time{}, "--until and --runs are for CronJobs"},
		{"1h", 0, false, time.Time{}, "--until and --runs are for CronJobs"},
		{"1h", 0, true, now.Add(time.Hour), ""},
		{"0s", 0, true, now, ""},
		{"-1ns", 0, true, time.Time{}, `--until: "-1ns": is in the past`},
		{"later", 0, true, time.Time{}, `--until: "later": must be`},
	} {
		o := runOptions{until: c.until, runs: c.runs}
		got, err := o.untilTime(now, c.crons)
		if c.fails == "" && (err != nil || !got.Equal(c.want)) ||
			c.fails != "" && (err == nil || !strings.HasPrefix(err.Error(), c.fails)) {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
}

// TestStartClock: a virtual clock continues at the last stored time, and its span is stored. The
// machine's clock, and a wrong option, store nothing.
func TestStartClock(t *testing.T) {
	s, err := store.Open(t.TempDir() + "/state")
	must.OK(t, err)
	defer s.Close()
	stored := func() *clock.Clock {
		c, _, err := s.Clock()
		must.OK(t, err)
		return c
	}

	o := runOptions{speed: 1}
	if c, until, err := o.startClock(s, true); err != nil || !c.IsReal() || !until.IsZero() || !stored().IsReal() {
		t.Errorf("%v, %v", until, err)
	}
	o.until = "-1h"
	if _, _, err := o.startClock(s, true); err == nil {
		t.Error("--until is in the past of the machine's clock")
	}
	o = runOptions{speed: 2, until: "later"}
	if _, _, err := o.startClock(s, true); err == nil || !stored().IsReal() {
		t.Errorf("%v, stored is %v", err, stored())
	}
	o.until = "1h"
	c, until, err := o.startClock(s, true)
	if err != nil || c.IsReal() || stored().IsReal() || until.Before(time.Now()) {
		t.Errorf("%v, %v", until, err)
	}

	must.OK(t, s.Saw(now))
	c, until, err = o.startClock(s, true)
	if err != nil || c.Now().Before(now) || !until.Equal(now.Add(time.Hour)) {
		t.Errorf("%v, until %v, %v", c.Now(), until, err)
	}
	if got, err := timeOf(s); err != nil || !got.Equal(now) {
		t.Errorf("a look is at %v, %v", got, err)
	}
}

// TestTimeOf: without a clock of its own, a state folder has the machine's time.
func TestTimeOf(t *testing.T) {
	s, err := store.Open(t.TempDir() + "/state")
	must.OK(t, err)
	defer s.Close()
	if got, err := timeOf(s); err != nil || time.Since(got) < 0 || time.Since(got) > time.Minute {
		t.Errorf("%v, %v", got, err)
	}
	past := time.Now().Add(-time.Hour)
	must.OK(t, s.AddSpan(clock.Span{Real: past, Virtual: past, Speed: 1}))
	if got, err := timeOf(s); err != nil || time.Since(got) > time.Minute {
		t.Errorf("%v, %v", got, err)
	}
}

// TestInside: the folder itself and what is below it are inside, and not a neighbour.
func TestInside(t *testing.T) {
	for path, want := range map[string]bool{"/a/b": true, "/a/b/c": true, "/a/bc": false, "/a": false} {
		if inside(path, "/a/b") != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}

// TestDefaultParallel: even a small machine runs some pods concurrently, most of which wait.
func TestDefaultParallel(t *testing.T) {
	for processors, want := range map[int]int{1: 16, 4: 16, 5: 20, 64: 256} {
		if got := defaultParallel(processors); got != want {
			t.Errorf("%d processors: %d", processors, got)
		}
	}
}
