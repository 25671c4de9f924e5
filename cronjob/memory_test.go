package cronjob_test

import (
	"testing"

	"github.com/batchplan/batchplan/cronjob"
)

// CI1: the memory of what was recorded keeps a run from starting again under a snapshot
// whose status is older, once its job has ended and the history has deleted it.
func TestCI1_RecordedInTheMemoryAlone(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1.5))
	plan := reconcile(t, s)
	end := plan.Conclude(done(&plan))
	if !end.Memory.Kept().Recorded.Equal(hours(1)) {
		t.Fatalf("recorded %s", end.Memory.Kept().Recorded)
	}
	s.Memory = end.Memory
	if got := created(t, reconcile(t, s)); !got.IsZero() {
		t.Errorf("the run of %s starts again", got)
	}
	s.Memory.Kept().CronJobUID = "an earlier CronJob of this name"
	if got := created(t, reconcile(t, s)); !got.Equal(hours(1)) {
		t.Errorf("another's memory counts: got %s", got)
	}
}

// A status that could not be written is not remembered as recorded, and the planner says
// so: the next round writes it, and starts nothing twice.
func TestCI3_FailedStatusIsNotRecorded(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1.5))
	s.Triggers = []cronjob.Trigger{{ID: "a"}}
	plan := reconcile(t, s)
	o := done(&plan)
	for _, result := range []cronjob.Result{cronjob.ResultUnsuccessful, cronjob.ResultNotTried} {
		o.Settled = result
		end := plan.Conclude(o)
		if !end.Memory.Kept().Recorded.IsZero() || !end.Retry || len(end.Triggered) > 0 {
			t.Fatalf("%s: %+v", result, end)
		}
		again := s
		again.Memory = end.Memory
		next := reconcile(t, again)
		if len(next.Create) > 0 || !next.Settle(cronjob.Writes{}).Status.LastScheduleTime.Equal(hours(1)) {
			t.Errorf("%s: the round after:\n%s", result, next.String())
		}
	}
}

// M9: what failed is retried with a delay, never planned again at once, whatever else the
// round had to do.
func TestM9_FailedWritesAreNoHotLoop(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace}), hours(3.5), child(hours(1)))
	s.Options.CatchUp = cronjob.CatchUpAll
	for range 3 {
		plan := reconcile(t, s)
		o := done(&plan)
		o.Settled = cronjob.ResultUnsuccessful
		for i := range o.Created {
			o.Created[i] = cronjob.Effect{Result: cronjob.ResultUnsuccessful}
		}
		end := plan.Conclude(o)
		if !end.Retry || !end.Requeue.At.After(s.Now) {
			t.Fatalf("again at %s, retry %t:\n%s", end.Requeue.At, end.Retry, plan.String())
		}
		s.Memory = end.Memory
	}
}
