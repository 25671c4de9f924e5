package cronjob

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestC13_RunsOfOneMinute: the job's name contains the minute of its run. So two runs in the same
// minute, for example of "@every 30s", are one run.
func TestC13_RunsOfOneMinute(t *testing.T) {
	at := func(seconds int) time.Time { return time.Date(2026, 3, 1, 12, 0, seconds, 0, time.UTC) }
	runs := []time.Time{at(90), at(30), at(0), at(60), at(120)}
	got := new(names).sorted(runs)
	if want := []time.Time{at(0), at(60), at(120)}; !slices.Equal(got, want) {
		t.Errorf("sorted %v, want %v", got, want)
	}
	for seconds, want := range map[int]bool{-1: false, 0: true, 59: true, 119: true, 180: false} {
		if new(names).has(got, at(seconds)) != want {
			t.Errorf("has the run of second %d: %v, want %v", seconds, !want, want)
		}
	}
	if left := runsAfter(slices.Clone(got), at(60)); !slices.Equal(left, got[2:]) {
		t.Errorf("after the second run: %v", left)
	}
}

// A run is awaited if any backfill still has to settle it.
func TestAwaitedBy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := func(label string) time.Time { return time.Unix(rapid.Int64Range(0, 600).Draw(t, label), 0) }

		var all []Backfill
		for range rapid.IntRange(0, 6).Draw(t, "backfills") {
			b := Backfill{After: at("after")}
			b.Until = b.After.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "long")) * time.Second)
			for range rapid.IntRange(0, 4).Draw(t, "except") {
				b.Except = append(b.Except, at("except"))
			}
			all = append(all, b)
		}

		left := awaitedBy(all, new(names))
		for range 20 {
			run := at("run")
			want := slices.ContainsFunc(all, func(b Backfill) bool {
				return b.covers(run) && !slices.ContainsFunc(b.Except, func(e time.Time) bool { return new(names).isSameRun(e, run) })
			})
			if got := left.has(run); got != want {
				t.Fatalf("%s: %t, want %t of %+v", run, got, want, all)
			}
		}
	})
}

// The next runs that have jobs are added to the Except of a backfill, in order and up to a limit.
func TestSettledAhead(t *testing.T) {
	minute := func(n int) time.Time { return time.Unix(int64(n)*60, 0) }
	var own []time.Time
	for i := range 500 {
		own = append(own, minute(i))
	}
	b := Backfill{After: minute(10), Until: minute(400), Except: []time.Time{minute(5), minute(11), minute(300)}}
	got := settledAhead(&b, own, new(names))
	if len(got) != maxExcept || !got[0].Equal(minute(11)) || !got[98].Equal(minute(109)) || !got[99].Equal(minute(300)) {
		t.Errorf("%d runs: %v", len(got), got)
	}
	b.Until = minute(13)
	if got := settledAhead(&b, own, new(names)); len(got) != 4 || !got[2].Equal(minute(13)) {
		t.Errorf("beyond the range: %v", got)
	}
	b.Except = own
	if got := settledAhead(&b, own, new(names)); len(got) != 489 || !slices.Equal(b.Except, own) {
		t.Errorf("%d runs are left of a long list", len(got))
	}
}
