package cronjob_test

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

func TestC12_CI8_Replace(t *testing.T) {
	first, second := start.Add(time.Hour), start.Add(2*time.Hour)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(child(first))}, LastScheduleTime: first}
	plan := reconcile(t, snapshot(c, second, child(first)))
	if len(plan.Delete) != 1 || plan.Delete[0].Reason != cronjob.DeleteReplaced || len(plan.Create) != 1 {
		t.Fatal(plan.String())
	}
	status := plan.Settle(done(&plan).Writes).Status
	if len(status.Active) != 1 || status.Active[0].Name != cronjob.JobName("report", second) {
		t.Error(status)
	}

	failed := cronjob.Outcome{Writes: cronjob.Writes{Deleted: []cronjob.Effect{{Result: cronjob.ResultUnsuccessful}}}, Settled: cronjob.ResultDone}
	if plan.MayCreate(failed.Writes) {
		t.Error("a deletion failed, and the run may start")
	}
	if end := plan.Conclude(failed); !end.Retry || plan.Settle(failed.Writes).Write {
		t.Error("a failed replacement is tried again")
	}
	if !plan.MayCreate(cronjob.Writes{Deleted: []cronjob.Effect{{Result: cronjob.ResultGone}}}) {
		t.Error("gone is as good as deleted")
	}
}

// C12: a job to replace that turns out to be gone is as good as deleted: the run starts in
// the same round, and no event tells of a deletion.
func TestC12_AReplacedJobFoundGone(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(child(hours(1)))}, LastScheduleTime: hours(1)}
	plan := reconcile(t, snapshot(c, hours(2)))
	o := done(&plan)
	o.Deleted[0] = cronjob.Effect{Result: cronjob.ResultGone}
	if !plan.MayCreate(o.Writes) {
		t.Fatal("the run does not start")
	}
	end, status := plan.Conclude(o), plan.Settle(o.Writes).Status
	if want := []string{"MissingJob", "SuccessfulCreate"}; !slices.Equal(reasons(end.Events), want) || end.Retry {
		t.Errorf("events %v, retry %t", end.Events, end.Retry)
	}
	if len(status.Active) != 1 || status.Active[0].Name != cronjob.JobName("report", hours(2)) {
		t.Error(status)
	}
}

func TestReplaceWhenGone(t *testing.T) {
	first := child(hours(1))
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(first)}, LastScheduleTime: hours(1)}
	s := snapshot(c, hours(2), first)
	s.Options.ReplaceWhenGone = true
	plan := reconcile(t, s)
	if len(plan.Create) > 0 || len(plan.Delete) != 1 || !plan.Delete[0].Foreground {
		t.Fatal(plan.String())
	}
	s.CronJob.Status = plan.Settle(done(&plan).Writes).Status
	s.Children[0].DeletionTimestamp = s.Now
	if plan := reconcile(t, s); len(plan.Create)+len(plan.Delete) > 0 {
		t.Errorf("its pods still run: %s", plan.String())
	}
	s.Children = nil
	if got := created(t, reconcile(t, s)); !got.Equal(hours(2)) {
		t.Errorf("now it starts: got %s", got)
	}
}

// B3: jobs that are deleted first come in the order of their runs, whatever the order
// of the children.
func TestReplaceWhenGone_OrderOfDeletions(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace})
	c.Status.LastScheduleTime = hours(3)
	children := []cronjob.Child{child(hours(3)), child(hours(1)), child(hours(2))}
	s := snapshot(c, hours(4), children...)
	s.Options.ReplaceWhenGone = true
	plan := reconcile(t, s)
	var runs []string
	for _, d := range plan.Delete {
		runs = append(runs, d.Name)
	}
	want := []string{cronjob.JobName("report", hours(1)), cronjob.JobName("report", hours(2)), cronjob.JobName("report", hours(3))}
	if !slices.Equal(runs, want) {
		t.Errorf("got %q, want %q", runs, want)
	}
}

// What was deleted with its pods is remembered until the children tell that it is on
// its way out, and only where a run waits for that.
func TestReplaceWhenGone_WhatIsRemembered(t *testing.T) {
	running := child(hours(1))
	leaving, ended := running, finished(running, job.ConditionComplete, hours(1.5))
	leaving.DeletionTimestamp = hours(1.6)
	whenGone := cronjob.Options{ReplaceWhenGone: true}
	for _, tc := range []struct {
		name     string
		policy   cronjob.ConcurrencyPolicy
		options  cronjob.Options
		children []cronjob.Child
		looks    int
		kept     int
	}{
		{"nothing is seen of it", cronjob.Replace, whenGone, nil, 1, 1},
		{"it still runs", cronjob.Replace, whenGone, []cronjob.Child{running}, 0, 1},
		{"it is under deletion", cronjob.Replace, whenGone, []cronjob.Child{leaving}, 0, 0},
		{"it has ended", cronjob.Replace, whenGone, []cronjob.Child{ended}, 0, 0},
		{"nothing waits until it is gone", cronjob.Replace, cronjob.Options{}, nil, 0, 0},
		{"nothing is replaced", cronjob.Allow, whenGone, nil, 0, 0},
	} {
		c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: tc.policy})
		c.Status.LastScheduleTime = hours(1)
		s := snapshot(c, hours(1.7), tc.children...)
		s.Options = tc.options
		s.Memory = cronjob.Remember(cronjob.Remembered{CronJobUID: c.UID, Replaced: []cronjob.LeavingJob{{Reference: ref(running)}}})
		plan := reconcile(t, s)
		if got := len(plan.Basis().Memory.Replaced); got != tc.kept || len(plan.Verify) != tc.looks {
			t.Errorf("%s: %d kept, %d looked up, want %d and %d\n%s", tc.name, got, len(plan.Verify), tc.kept, tc.looks, plan.String())
		}
	}
}
