package cronjob_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

func TestC10_AlreadyStarted(t *testing.T) {
	run := start.Add(time.Hour)
	running := child(run)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	for name, status := range map[string]cronjob.Status{
		"recorded":            {LastScheduleTime: run},
		"in the active list":  {Active: []cronjob.Reference{ref(running)}},
		"recorded and active": {Active: []cronjob.Reference{ref(running)}, LastScheduleTime: run},
	} {
		c.Status = status
		plan := reconcile(t, snapshot(c, run.Add(time.Minute), running))
		if len(plan.Create) > 0 {
			t.Errorf("%s: %s", name, plan.String())
		}
		if got := plan.Settle(cronjob.Writes{}).Status.LastScheduleTime; !got.Equal(run) {
			t.Errorf("%s: recorded %s", name, got)
		}
	}
}

// C10, CI1: the active list names the job of the due run, the children do not hold it.
func TestC10_NamedByTheActiveListAlone(t *testing.T) {
	run := hours(1)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	c.Status.Active = []cronjob.Reference{ref(child(run))}
	s := snapshot(c, hours(1.5))
	plan := reconcile(t, s)
	if got := plan.Settle(done(&plan).Writes).Status; len(plan.Create) > 0 || !got.LastScheduleTime.Equal(run) || len(got.Active) > 0 {
		t.Errorf("it has started: %s", plan.String())
	}
	plan = reconcile(t, kubernetes(s))
	if got := plan.Settle(done(&plan).Writes).Status; len(plan.Create) > 0 || !got.LastScheduleTime.IsZero() {
		t.Errorf("the reference does not record it: %s", plan.String())
	}
}

// C14: a job of ours that has the name of the run, but not its annotation.
func TestC14_FoundByName(t *testing.T) {
	run := hours(1)
	for _, ended := range []bool{false, true} {
		found := child(run)
		found.ScheduledTime = start.AddDate(-1, 0, 0)
		if ended {
			found = finished(found, job.ConditionFailed, hours(1.2))
		}
		plan := reconcile(t, snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1.5), found))
		status := plan.Settle(cronjob.Writes{}).Status
		if len(plan.Create) > 0 || !status.LastScheduleTime.Equal(run) || len(status.Active) == 1 == ended {
			t.Errorf("ended %t: %s", ended, plan.String())
		}
	}
}

// C14: the reference fails on a job that exists, whoever owns it.
func TestC14_QuirkBlindCreate(t *testing.T) {
	run := hours(1)
	for _, result := range []cronjob.Result{cronjob.ResultAlreadyExists, cronjob.ResultNameTaken, cronjob.ResultRefused} {
		o := cronjob.Outcome{Writes: cronjob.Writes{Created: []cronjob.Effect{{Result: result, Job: cronjob.Reference{UID: "u"}}}}}
		s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), run)
		plan := reconcile(t, s)
		if wrote := plan.Settle(o.Writes).Write; wrote != (result == cronjob.ResultAlreadyExists) || plan.Conclude(o).Retry && !wrote {
			t.Errorf("%s: wrote %t, %+v", result, wrote, plan.Conclude(o))
		}
		plan = reconcile(t, kubernetes(s))
		if plan.Settle(o.Writes).Write || !plan.Conclude(o).Retry {
			t.Errorf("%s, with the quirk: %+v", result, plan.Conclude(o))
		}
	}
}

// TestC13_NoteOfOneMinute: a run whose minute has had one does not start, and a note says so.
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
