package cronjob_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

func TestC10_AlreadyStarted(t *testing.T) {
	active := []cronjob.Reference{ref(child(hours(1)))}
	for name, status := range map[string]cronjob.Status{
		"recorded":            {LastScheduleTime: hours(1)},
		"in the active list":  {Active: active},
		"recorded and active": {Active: active, LastScheduleTime: hours(1)},
	} {
		s := hourly(cronjob.Spec{}, hours(1).Add(time.Minute), child(hours(1)))
		s.CronJob.Status = status
		plan := reconcile(t, s)
		if got := plan.Settle(cronjob.Writes{}).Status.LastScheduleTime; len(plan.Create) > 0 || !got.Equal(hours(1)) {
			t.Errorf("%s: recorded %s\n%s", name, got, plan.String())
		}
	}
}

// C10, CI1: the job of the due run is in the active list, but not among the children.
func TestC10_NamedByTheActiveListAlone(t *testing.T) {
	s := second("")
	s.Now, s.CronJob.Status.LastScheduleTime = hours(1.5), time.Time{}
	plan, end := play(t, s)
	if got := end.Status; len(plan.Create) > 0 || !got.LastScheduleTime.Equal(hours(1)) || len(got.Active) > 0 {
		t.Errorf("it has started: %s", plan.String())
	}
	plan, end = play(t, kubernetes(s))
	if len(plan.Create) > 0 || !end.Status.LastScheduleTime.IsZero() {
		t.Errorf("the reference does not record it: %s", plan.String())
	}
}

// C14: a job of the CronJob has the name of the run, but not its annotation.
func TestC14_FoundByName(t *testing.T) {
	for _, found := range []cronjob.Child{child(hours(1)), finished(child(hours(1)), job.ConditionFailed, hours(1.2))} {
		found.ScheduledTime = start.AddDate(-1, 0, 0)
		plan := reconcile(t, hourly(cronjob.Spec{}, hours(1.5), found))
		status := plan.Settle(cronjob.Writes{}).Status
		if len(plan.Create) > 0 || !status.LastScheduleTime.Equal(hours(1)) || (len(status.Active) == 1) != (found.Finished == "") {
			t.Errorf("finished %q: %s", found.Finished, plan.String())
		}
	}
}

// C14: in Kubernetes the creation fails if the job exists, no matter who owns the job.
func TestC14_QuirkBlindCreate(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(1))
	for _, result := range []cronjobreason.Result{cronjobreason.ResultAlreadyExists, cronjobreason.ResultNameTaken, cronjobreason.ResultRefused} {
		o := creation(result)
		o.Created[0].Job.UID = "u"
		plan := reconcile(t, s)
		if wrote := plan.Settle(o.Writes).Write; wrote != (result == cronjobreason.ResultAlreadyExists) || plan.Conclude(o).Retry && !wrote {
			t.Errorf("%s: wrote %t, %+v", result, wrote, plan.Conclude(o))
		}
		plan = reconcile(t, kubernetes(s))
		if end := plan.Conclude(o); plan.Settle(o.Writes).Write || !end.Retry || len(end.Events) > 0 {
			t.Errorf("%s, with the quirk: %+v", result, plan.Conclude(o))
		}
	}
}

// TestC13_NoteOfOneMinute: the second run in a minute does not start, and the plan has a note.
func TestC13_NoteOfOneMinute(t *testing.T) {
	first := start.Add(10 * time.Second)
	c := newCronJob(cronjob.Spec{Schedule: "@every 10s"})
	c.Status.LastScheduleTime = first
	for _, tc := range []struct {
		after  time.Duration
		starts int
	}{{10 * time.Second, 0}, {40 * time.Second, 0}, {50 * time.Second, 1}} {
		plan := reconcile(t, snapshot(c, first.Add(tc.after), child(first)))
		if len(plan.Create) != tc.starts || len(plan.Notes) != 1-tc.starts {
			t.Errorf("after %v: %s", tc.after, plan.String())
		}
	}
}
