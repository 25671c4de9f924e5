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
