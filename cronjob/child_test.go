package cronjob_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

func TestC1_ForeignJobsAreNotTouched(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", SuccessfulJobsHistoryLimit: ptr[int32](0)})
	foreign := finished(child(start), job.ConditionComplete, start)
	foreign.Foreign = true
	plan := reconcile(t, snapshot(c, start.Add(time.Minute), foreign))
	if len(plan.Delete) > 0 || plan.Settle(cronjob.Writes{}).Write {
		t.Error(plan.String())
	}
}
