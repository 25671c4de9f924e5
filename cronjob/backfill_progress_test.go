package cronjob

import (
	"slices"
	"testing"
	"time"
)

// TestC13_RunsOfOneMinute: the job's name holds the minute of its run, so two runs
// of one minute, as "@every 30s" has them, are one.
func TestC13_RunsOfOneMinute(t *testing.T) {
	at := func(seconds int) time.Time { return time.Date(2026, 3, 1, 12, 0, seconds, 0, time.UTC) }
	runs := []time.Time{at(90), at(30), at(0), at(60), at(120)}
	got := sortedRuns(runs)
	if want := []time.Time{at(0), at(60), at(120)}; !slices.Equal(got, want) {
		t.Errorf("sorted %v, want %v", got, want)
	}
	for seconds, want := range map[int]bool{-1: false, 0: true, 59: true, 119: true, 180: false} {
		if hasRun(got, at(seconds)) != want {
			t.Errorf("has the run of second %d: %v, want %v", seconds, !want, want)
		}
	}
	if left := runsAfter(slices.Clone(got), at(60)); !slices.Equal(left, got[2:]) {
		t.Errorf("after the second run: %v", left)
	}
}
