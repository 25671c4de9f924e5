package cronjob

import (
	"slices"
	"time"
)

// runsAfter returns the runs of a sorted list that are later than t.
func runsAfter(runs []time.Time, t time.Time) []time.Time {
	i, _ := slices.BinarySearchFunc(runs, t.Add(1), time.Time.Compare)
	return slices.Clip(runs[i:])
}

// isIn reports whether a run is in (after, until].
func isIn(run, after, until time.Time) bool { return run.After(after) && !run.After(until) }

// isBeyond reports whether a run is later than a time. It is also true if run is zero, which means
// that there is none.
func isBeyond(run, until time.Time) bool { return run.IsZero() || run.After(until) }

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// sooner returns the earlier of two times, ignoring a zero time.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
