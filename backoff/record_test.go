package backoff_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds ...int) []time.Time {
	var times []time.Time
	for _, s := range seconds {
		times = append(times, t0.Add(time.Duration(s)*time.Second))
	}
	return times
}

func TestJ31_Observe(t *testing.T) {
	before := backoff.Record{Failures: 3, LastFailure: t0}

	for _, c := range []struct {
		name                string
		from                backoff.Record
		successes, failures []time.Time
		want                backoff.Record
	}{
		{"nothing happened", before, nil, nil, before},
		{"failures add up", before, nil, at(5, 2), backoff.Record{Failures: 5, LastFailure: t0.Add(5 * time.Second)}},
		{"a failure reported late counts, and the last stays the last", before, nil, at(-5), backoff.Record{Failures: 4, LastFailure: t0}},
		{"a success resets", before, at(1), nil, backoff.Record{}},
		{"a success that is older than the record also resets", before, at(-1), nil, backoff.Record{}},
		{"failures before the success do not count", before, at(9), at(5, 8), backoff.Record{}},
		{"failures after it do", before, at(6), at(5, 8, 7), backoff.Record{Failures: 2, LastFailure: t0.Add(8 * time.Second)}},
		{"the latest success decides", before, at(1, 6, 3), at(2, 7), backoff.Record{Failures: 1, LastFailure: t0.Add(7 * time.Second)}},
		{"a failure at the time of the success does not count", before, at(6), at(6), backoff.Record{}},
		{"the first failure of all", backoff.Record{}, nil, at(-7), backoff.Record{Failures: 1, LastFailure: t0.Add(-7 * time.Second)}},
		{"a failure without a time counts", backoff.Record{}, nil, []time.Time{{}}, backoff.Record{Failures: 1}},
		{"the time of no failure is forgotten", backoff.Record{LastFailure: t0}, nil, at(-7), backoff.Record{Failures: 1, LastFailure: t0.Add(-7 * time.Second)}},
		{"a negative number of failures is none", backoff.Record{Failures: -4, LastFailure: t0}, nil, at(-7), backoff.Record{Failures: 1, LastFailure: t0.Add(-7 * time.Second)}},
		{"the number stays at its largest", backoff.Record{Failures: math.MaxInt32, LastFailure: t0}, nil, at(1, 2), backoff.Record{Failures: math.MaxInt32, LastFailure: t0.Add(2 * time.Second)}},
	} {
		if got := c.from.Observe(c.successes, c.failures); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// observeByLoop is a simple model of Observe: it applies all events in order of time, failures
// before successes of the same time.
func observeByLoop(r backoff.Record, successes, failures []time.Time) backoff.Record {
	type event struct {
		at      time.Time
		success bool
	}

	var events []event
	for _, t := range failures {
		events = append(events, event{t, false})
	}
	for _, t := range successes {
		events = append(events, event{t, true})
	}
	slices.SortStableFunc(events, func(a, b event) int { return a.at.Compare(b.at) })

	for _, e := range events {
		if e.success {
			r = backoff.Record{}
			continue
		}

		last := r.LastFailure
		if r.Failures == 0 || e.at.After(last) {
			last = e.at
		}
		r = backoff.Record{Failures: r.Failures + 1, LastFailure: last}
	}
	return r
}

func TestJ31_ObserveAgainstLoop(t *testing.T) {
	seconds := rapid.SliceOfN(rapid.IntRange(-6, 6), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		var r backoff.Record
		if n := rapid.Int32Range(0, 4).Draw(t, "failures before"); n > 0 {
			r = backoff.Record{Failures: n, LastFailure: at(rapid.IntRange(-6, 6).Draw(t, "last"))[0]}
		}
		successes := at(seconds.Draw(t, "successes")...)
		failures := at(seconds.Draw(t, "failures")...)
		keptSuccesses, keptFailures := slices.Clone(successes), slices.Clone(failures)

		got := r.Observe(successes, failures)
		if want := observeByLoop(r, successes, failures); got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
		if !slices.Equal(successes, keptSuccesses) || !slices.Equal(failures, keptFailures) {
			t.Fatal("the arguments were written to")
		}
		shuffledS := rapid.Permutation(successes).Draw(t, "successes in another order")
		shuffledF := rapid.Permutation(failures).Draw(t, "failures in another order")
		if again := r.Observe(shuffledS, shuffledF); again != got {
			t.Fatalf("got %+v, in another order %+v", got, again)
		}
	})
}

func TestJ31_DueAndRemaining(t *testing.T) {
	var p backoff.Policy

	for _, c := range []struct {
		name string
		rec  backoff.Record
		due  time.Time
		left time.Duration // at t0
	}{
		{"no failure", backoff.Record{}, time.Time{}, 0},
		{"the time of no failure", backoff.Record{LastFailure: t0}, time.Time{}, 0},
		{"a negative number of failures", backoff.Record{Failures: -1, LastFailure: t0}, time.Time{}, 0},
		{"one failure, just now", backoff.Record{Failures: 1, LastFailure: t0}, t0.Add(10 * time.Second), 10 * time.Second},
		{"two failures, a while ago", backoff.Record{Failures: 2, LastFailure: t0.Add(-15 * time.Second)}, t0.Add(5 * time.Second), 5 * time.Second},
		{"due now", backoff.Record{Failures: 1, LastFailure: t0.Add(-10 * time.Second)}, t0, 0},
		{"long due", backoff.Record{Failures: 1, LastFailure: t0.Add(-time.Hour)}, t0.Add(-time.Hour + 10*time.Second), 0},
		{"a failure by a clock ahead of ours", backoff.Record{Failures: 1, LastFailure: t0.Add(3 * time.Second)}, t0.Add(13 * time.Second), 13 * time.Second},
		{"as many failures as there can be", backoff.Record{Failures: math.MaxInt32, LastFailure: t0}, t0.Add(10 * time.Minute), 10 * time.Minute},
	} {
		if got := c.rec.Due(p); !got.Equal(c.due) {
			t.Errorf("%s: due %v, want %v", c.name, got, c.due)
		}
		if got := c.rec.Remaining(p, t0); got != c.left {
			t.Errorf("%s: %v remaining, want %v", c.name, got, c.left)
		}
	}
}

func TestB2_RecordRoundTripsAsJSON(t *testing.T) {
	for record, want := range map[backoff.Record]string{
		{}:                             `{}`,
		{Failures: 2, LastFailure: t0}: `{"failures":2,"lastFailure":"2026-03-01T12:00:00Z"}`,
	} {
		text, err := json.Marshal(record)
		if err != nil || string(text) != want {
			t.Errorf("got %s, %v, want %s", text, err, want)
		}
		var back backoff.Record
		if err := json.Unmarshal(text, &back); err != nil || !cmp.Equal(back, record) {
			t.Errorf("back came %+v, %v, want %+v", back, err, record)
		}
	}
}
