package cronjob_test

import (
	"slices"
	"testing"

	"github.com/batchplan/batchplan/cronjob"
)

func TestTrigger(t *testing.T) {
	running := child(hours(1))
	c := newCronJob(cronjob.Spec{Schedule: "@daily", Suspend: ptr(true)})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(running)}, LastScheduleTime: hours(1)}
	s := snapshot(c, hours(2), running)
	s.Triggers = []cronjob.Trigger{{ID: "b", Overlap: cronjob.Forbid}, {ID: "a"}, {ID: "a"}}
	plan := reconcile(t, s)
	if len(plan.Create) != 1 || plan.Create[0].Name != "report-manual-a" {
		t.Fatal(plan.String())
	}
	if got := plan.Create[0].Annotations; len(got) != 1 || got["cronjob.kubernetes.io/instantiate"] != "manual" {
		t.Errorf("annotations %v", got)
	}
	o := done(&plan)
	if got := plan.Conclude(o).Triggered; !slices.Equal(got, []string{"a"}) {
		t.Errorf("triggered %q", got)
	}
	status := plan.Settle(o.Writes).Status
	if len(status.Active) != 2 || !status.LastScheduleTime.Equal(hours(1)) {
		t.Error(status)
	}
	// A crash before the status write: the job is found and not started again.
	made := cronjob.Child{Name: "report-manual-a", UID: "u"}
	s.Children = append(s.Children, made)
	plan = reconcile(t, s)
	if len(plan.Create) > 0 || len(plan.Settle(cronjob.Writes{}).Status.Active) != 2 {
		t.Error(plan.String())
	}
	for _, bad := range []cronjob.Trigger{{}, {ID: "x", Overlap: cronjob.Replace}} {
		s.Triggers = []cronjob.Trigger{bad}
		if _, err := cronjob.Reconcile(s); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// A trigger is over when its job is there, and when its name belongs to another owner.
func TestTriggers_WhatEndsThem(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), start)
	s.Triggers = []cronjob.Trigger{{ID: "now"}}
	plan := reconcile(t, s)
	for result, over := range map[cronjob.Result]bool{
		cronjob.ResultDone: true, cronjob.ResultAlreadyExists: true, cronjob.ResultNameTaken: true,
		cronjob.ResultNotTried: false, cronjob.ResultUnsuccessful: false, cronjob.ResultRefused: false,
	} {
		o := done(&plan)
		o.Created[0].Result = result
		if got := slices.Contains(plan.Conclude(o).Triggered, "now"); got != over {
			t.Errorf("%s: over %v, want %v", result, got, over)
		}
	}
}

// A run that waits for the jobs that it replaces would replace the job of a trigger as well,
// so the trigger waits until the run starts.
func TestTriggers_WaitForTheRunThatReplaces(t *testing.T) {
	leaving := child(hours(1))
	leaving.DeletionTimestamp = hours(2)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace})
	c.Status.LastScheduleTime = hours(1)
	s := snapshot(c, hours(2), leaving)
	s.Options.ReplaceWhenGone = true
	s.Triggers = []cronjob.Trigger{{ID: "a"}, {ID: "b", Overlap: cronjob.Forbid}}
	plan := reconcile(t, s)
	held := 0
	for _, w := range plan.Waits {
		if w.Reason == cronjob.WaitTrigger && w.Jobs == 1 {
			held++
		}
	}
	if len(plan.Create) > 0 || held != 2 {
		t.Errorf("the jobs of the triggers would be deleted immediately:\n%s", &plan)
	}
	s.Children = nil
	if plan = reconcile(t, s); len(plan.Create) != 2 || plan.Create[1].Trigger != "a" {
		t.Errorf("the run and the first trigger start:\n%s", &plan)
	}
}
