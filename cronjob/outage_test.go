package cronjob_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
)

// TestB1_OutagesOfIrregularSchedules sweeps outages of a day over eight weeks. The
// planner starts the latest run after each outage in which one was missed; with the
// estimate of the reference it starts nothing after many.
func TestB1_OutagesOfIrregularSchedules(t *testing.T) {
	for _, tc := range []struct {
		schedule    string
		atLeast, at int // percent of the outages after which the reference starts nothing
	}{
		{"30 6-16/4 * * 1-5", 45, 55},
		{"*/15 8-18 * * 1-5", 50, 65},
		{"*/5 14 * * *", 90, 99},
		{"0 * * * *", 0, 0},
	} {
		s := snapshot(newCronJob(cronjob.Spec{Schedule: tc.schedule}), start)
		theirs := kubernetes(s)
		missed, lost := 0, 0
		for down := start; down.Before(start.AddDate(0, 0, 56)); down = down.Add(17 * time.Minute) {
			up := down.Add(24 * time.Hour)
			s.CronJob.CreationTimestamp, theirs.CronJob.CreationTimestamp = down, down
			s.Now, theirs.Now = up, up
			latest, ok := s.Schedule.Schedule.Latest(down, up)
			if !ok {
				continue
			}
			missed++
			if got := created(t, reconcile(t, s)); !got.Equal(latest) {
				t.Fatalf("%s from %s: got %s, want %s", tc.schedule, down, got, latest)
			}
			switch got := created(t, reconcile(t, theirs)); {
			case got.IsZero():
				lost++
			case !got.Equal(latest):
				t.Fatalf("%s from %s: the reference is never wrong, only silent: %s", tc.schedule, down, got)
			}
		}
		percent := 100 * lost / missed
		t.Logf("%s: %d outages, the reference starts nothing after %d%%", tc.schedule, missed, percent)
		if percent < tc.atLeast || percent > tc.at {
			t.Errorf("%s: %d%%, want %d to %d", tc.schedule, percent, tc.atLeast, tc.at)
		}
	}
}
