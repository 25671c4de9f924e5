package cronjob

import (
	"slices"
	"time"
)

// runsAfter is the part of a sorted list that is later than t.
func runsAfter(runs []time.Time, t time.Time) []time.Time {
	i, _ := slices.BinarySearchFunc(runs, t.Add(1), time.Time.Compare)
	return slices.Clip(runs[i:])
}

// isIn reports whether a run is in (after, until].
func isIn(run, after, until time.Time) bool { return run.After(after) && !run.After(until) }

// isBeyond reports whether a run is later than a time. The zero time stands for no run, which never comes.
func isBeyond(run, until time.Time) bool { return run.IsZero() || run.After(until) }

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// sooner returns the earlier of two times; a zero time is none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
