package cronjob_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
)

// TestC14_CI3_Created checks the conclusion for each result of creating a job. The job is created
// before the status is written (CI3).
func TestC14_CI3_Created(t *testing.T) {
	plan := reconcile(t, hourly(cronjob.Spec{}, hours(1).Add(2*time.Second)))

	for _, tc := range []struct {
		result           cronjobreason.Result
		active, recorded bool
		event            string
		retry            bool
	}{
		{cronjobreason.ResultDone, true, true, "SuccessfulCreate", false},
		{cronjobreason.ResultAlreadyExists, true, true, "", false},
		{cronjobreason.ResultNameTaken, false, false, "NameTaken", false},
		{cronjobreason.ResultUnsuccessful, false, false, "FailedCreate", true},
		{cronjobreason.ResultRefused, false, false, "", false},
		{cronjobreason.ResultNotTried, false, false, "", true},
	} {
		o := cronjob.Outcome{Writes: cronjob.Writes{Created: []cronjob.Effect{{
			Result: tc.result, Job: cronjob.Reference{UID: "u"}, CreationTimestamp: hours(1).Add(2 * time.Second), Error: "down",
		}}}, Settled: cronjob.Reply{Result: cronjobreason.ResultDone}}

		end := plan.Conclude(o)
		if status := plan.Settle(o.Writes).Status; len(status.Active) == 1 != tc.active || status.LastScheduleTime.Equal(hours(1)) != tc.recorded || end.Retry != tc.retry {
			t.Errorf("%s: %s, retry %t", tc.result, status, end.Retry)
		}
		if got := strings.Join(reasons(end.Events), " "); got != tc.event {
			t.Errorf("%s: events %q", tc.result, got)
		}
		if tc.result == cronjobreason.ResultDone && !slices.Equal(end.Metrics.CreationSkews, []time.Duration{2 * time.Second}) {
			t.Errorf("C16: skews %s", end.Metrics.CreationSkews)
		}
	}
}

// A round puts all changes into one status write.
func TestC15_OneStatus(t *testing.T) {
	s := second("", finished(child(hours(1)), job.ConditionComplete, hours(2)))
	s.CronJob.Status.Active = append(s.CronJob.Status.Active, cronjob.Reference{Name: "gone", UID: "gone"})
	_, end := play(t, s)
	if status := end.Status; len(status.Active) != 1 || !status.LastScheduleTime.Equal(hours(2)) || !status.LastSuccessfulTime.Equal(hours(2)) {
		t.Error(status)
	}
}

// B3: the status stays valid after the planner reuses its buffers.
func TestB3_TheStatusOutlivesItsPlan(t *testing.T) {
	var planner cronjob.Planner
	settle := func(hour float64) cronjob.Status {
		over, runs := finished(child(hours(hour)), job.ConditionComplete, hours(hour+0.5)), child(hours(hour+1))
		s := hourly(cronjob.Spec{}, hours(hour+1.5), over, runs)
		s.CronJob.Status = cronjob.Status{LastScheduleTime: hours(hour + 1), Active: []cronjob.Reference{ref(over), ref(runs)}}
		plan, err := planner.Reconcile(&s)
		must.OK(t, err)
		return plan.Settle(cronjob.Writes{}).Status
	}
	status := settle(1)
	settle(5)
	if want := []string{(cronjob.Naming{}).JobName("report", hours(2))}; !slices.Equal(names(status.Active), want) {
		t.Errorf("active %v, want %v", names(status.Active), want)
	}
}

// A backend may return only the UID of a new job.
func TestC15_ReferenceOfACreatedJob(t *testing.T) {
	plan := reconcile(t, hourly(cronjob.Spec{}, hours(1.5)))
	o := creation(cronjobreason.ResultDone)
	o.Created[0].Job.UID = "u"
	want := []cronjob.Reference{{Kind: "Job", APIVersion: "batch/v1", Namespace: "ns", Name: cronjob.Naming{}.JobName("report", hours(1)), UID: "u"}}
	if got := plan.Settle(o.Writes).Status.Active; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
