package cronjob_test

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
)

// C7 and CJ5 with the estimate of the reference, which sees no further than five years
// ahead.
func TestC7_EstimateOfRareDates(t *testing.T) {
	for _, tc := range []struct {
		name, created, now string
		deadline           *int64
		invalid            bool
		again              string // empty: never
	}{
		{"the second run is out of reach", "2096-02-28T00:00:00Z", "2096-03-01T00:00:00Z", nil, true, ""},
		{"so is the first", "2096-03-01T00:00:00Z", "2096-03-02T00:00:00Z", nil, true, ""},
		{"the deadline brings it into reach", "2096-03-01T00:00:00Z", "2103-01-01T00:00:00Z", ptr[int64](60), false, "2104-02-29T00:00:00.1Z"},
	} {
		c := newCronJob(cronjob.Spec{Schedule: "0 0 29 2 *", StartingDeadlineSeconds: tc.deadline})
		c.CreationTimestamp = at(tc.created)
		plan := reconcile(t, kubernetes(snapshot(c, at(tc.now))))
		again := time.Time{}
		if tc.again != "" {
			again = at(tc.again)
		}
		if got := slices.Contains(reasons(plan.Events), "InvalidSchedule"); got != tc.invalid || len(plan.Create) > 0 || !plan.Requeue.At.Equal(again) {
			t.Errorf("%s: %s", tc.name, plan.String())
		}
	}
}

// The preset's estimate of the number warns from the same number on.
func TestC8_TooManyMissedTimesOfThePreset(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "* * * * *"})
	for minutes, want := range map[int]bool{99: false, 100: false, 102: true, 10_000: true} {
		plan := reconcile(t, kubernetes(snapshot(c, start.Add(time.Duration(minutes)*time.Minute))))
		if got := slices.Contains(reasons(plan.Events), "TooManyMissedTimes"); got != want {
			t.Errorf("%d missed: warned %t", minutes, got)
		}
	}
}
