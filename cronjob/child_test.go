package cronjob_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

func TestC1_ForeignJobsAreNotTouched(t *testing.T) {
	ours := finished(child(start), job.ConditionComplete, start)
	plan := reconcile(t, hourly(cronjob.Spec{SuccessfulJobsHistoryLimit: ptr[int32](0)}, hours(0.1), foreign(ours)))
	if len(plan.Delete) > 0 || plan.Settle(cronjob.Writes{}).Write {
		t.Error(plan.String())
	}
}

// C1: the owner and the annotations of a job determine its child.
func TestC1_ChildOf(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	j := job.Job{Namespace: c.Namespace, Name: "report-1", UID: "u", CreationTimestamp: hours(1), DeletionTimestamp: hours(3), Status: job.Status{
		StartTime: hours(1), Conditions: []job.Condition{{Type: job.ConditionFailed, Status: job.ConditionTrue, LastTransitionTime: hours(2)}},
	}}

	want := cronjob.Child{
		Name: "report-1", UID: "u", CreationTimestamp: hours(1), DeletionTimestamp: hours(3), StartTime: hours(1),
		Finished: job.ConditionFailed, FinishTime: hours(2), ScheduledTime: hours(1), Backfilled: true,
	}
	run := map[string]string{
		"batch.kubernetes.io/cronjob-scheduled-timestamp": hours(1).Format(time.RFC3339), "cronjob.kubernetes.io/instantiate": "backfill",
	}

	if diff := cmp.Diff(want, cronjob.ChildOf(&c, &j, "cj-1", run)); diff != "" {
		t.Error(diff)
	}

	want.ScheduledTime, want.Backfilled, want.Foreign = time.Time{}, false, true
	elsewhere := j
	elsewhere.Namespace = "another"
	for _, tc := range []struct {
		name       string
		job        job.Job
		controller job.UID
	}{{"no controller", j, ""}, {"another controller", j, "another"}, {"another namespace", elsewhere, "cj-1"}} {
		if diff := cmp.Diff(want, cronjob.ChildOf(&c, &tc.job, tc.controller, map[string]string{"cronjob.kubernetes.io/instantiate": "manual"})); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}

	if none := cronjob.ChildOf(&cronjob.CronJob{}, &job.Job{}, "", nil); !none.Foreign {
		t.Error("a job without a controller belongs to a CronJob without a UID")
	}
}
