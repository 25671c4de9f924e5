package cronjob_test

import (
	"math"
	"testing"

	"github.com/batchplan/batchplan/cronjob"
)

// CI7: a deadline and a jitter that are too long together for a duration bound nothing.
func TestCI7_DeadlineAndJitterWithoutBound(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(300))
	s.Options.CatchUpWindow, s.Options.Jitter = math.MaxInt64, 1
	if got := created(t, reconcile(t, s)); !got.Equal(hours(300)) {
		t.Errorf("got %s", got)
	}
}
