package cronjob_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

func TestKeepByAge(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@daily"})
	c.Status.LastScheduleTime = hours(3)
	s := snapshot(c, hours(4), finished(child(hours(1)), job.ConditionComplete, hours(1)), finished(child(hours(3)), job.ConditionComplete, hours(3)))
	s.Options.KeepSuccessful = 2 * time.Hour
	plan := reconcile(t, s)
	if len(plan.Delete) != 1 || plan.Delete[0].Reason != cronjob.DeleteExpired || !plan.Requeue.At.Equal(hours(5)) {
		t.Error(plan.String())
	}
}

// KeepSuccessful, KeepFailed: a job expires exactly at its time, not a moment before; and
// the wake-up is that time.
func TestKeepByAge_ExactlyAtItsTime(t *testing.T) {
	for how, keep := range map[job.ConditionType]cronjob.Options{
		job.ConditionComplete: {KeepSuccessful: time.Hour}, job.ConditionFailed: {KeepFailed: time.Hour},
	} {
		c := newCronJob(cronjob.Spec{Schedule: "@daily"})
		c.Status.LastScheduleTime, c.Status.LastSuccessfulTime = hours(3), hours(3)
		s := snapshot(c, hours(4).Add(-1), finished(child(hours(2)), how, hours(3)))
		s.Options = keep
		plan := reconcile(t, s)
		if len(plan.Delete) > 0 || !plan.Requeue.At.Equal(hours(4)) || plan.Requeue.Reason != cronjob.WaitHistory {
			t.Errorf("%s, a nanosecond early:\n%s", how, plan.String())
		}
		s.Now = hours(4)
		if plan := reconcile(t, s); len(plan.Delete) != 1 || plan.Delete[0].Reason != cronjob.DeleteExpired {
			t.Errorf("%s, at its time:\n%s", how, plan.String())
		}
	}
}
