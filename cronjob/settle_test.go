package cronjob_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// TestC14_CI3_Created creates the job before the status is written (CI3).
func TestC14_CI3_Created(t *testing.T) {
	run := start.Add(time.Hour)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	plan := reconcile(t, snapshot(c, run.Add(2*time.Second)))
	for _, tc := range []struct {
		result           cronjob.Result
		active, recorded bool
		event            string
		retry            bool
	}{
		{cronjob.ResultDone, true, true, "SuccessfulCreate", false},
		{cronjob.ResultAlreadyExists, true, true, "", false},
		{cronjob.ResultNameTaken, false, false, "", false},
		{cronjob.ResultUnsuccessful, false, false, "FailedCreate", true},
		{cronjob.ResultRefused, false, false, "", false},
		{cronjob.ResultNotTried, false, false, "", true},
	} {
		o := cronjob.Outcome{Writes: cronjob.Writes{Created: []cronjob.Effect{{
			Result: tc.result, Job: cronjob.Reference{UID: "u"}, CreationTimestamp: run.Add(2 * time.Second), Error: "down",
		}}}, Settled: cronjob.ResultDone}
		status, end := plan.Settle(o.Writes).Status, plan.Conclude(o)
		if len(status.Active) == 1 != tc.active || status.LastScheduleTime.Equal(run) != tc.recorded || end.Retry != tc.retry {
			t.Errorf("%s: %s, retry %t", tc.result, status, end.Retry)
		}
		if got := strings.Join(reasons(end.Events), " "); got != tc.event {
			t.Errorf("%s: events %q", tc.result, got)
		}
		if tc.result == cronjob.ResultDone && end.Metrics.CreationSkew != 2*time.Second {
			t.Errorf("C16: skew %s", end.Metrics.CreationSkew)
		}
	}
}

// All that a round has to say goes into one status.
func TestC15_OneStatus(t *testing.T) {
	first, second := start.Add(time.Hour), start.Add(2*time.Hour)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	gone := cronjob.Reference{Name: "gone", UID: "gone"}
	c.Status = cronjob.Status{Active: []cronjob.Reference{gone, ref(child(first))}, LastScheduleTime: first}
	plan := reconcile(t, snapshot(c, second, finished(child(first), job.ConditionComplete, second)))
	status := plan.Settle(done(&plan).Writes).Status
	if len(status.Active) != 1 || !status.LastScheduleTime.Equal(second) || !status.LastSuccessfulTime.Equal(second) {
		t.Error(status)
	}
}

// A backend may name no more of a new job than its UID.
func TestC15_ReferenceOfACreatedJob(t *testing.T) {
	plan := reconcile(t, snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1.5)))
	o := cronjob.Outcome{Writes: cronjob.Writes{Created: []cronjob.Effect{{Result: cronjob.ResultDone, Job: cronjob.Reference{UID: "u"}}}}}
	want := []cronjob.Reference{{Kind: "Job", APIVersion: "batch/v1", Namespace: "ns", Name: cronjob.JobName("report", hours(1)), UID: "u"}}
	if got := plan.Settle(o.Writes).Status.Active; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
