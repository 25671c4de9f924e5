package cronjob_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
)

func TestTrigger(t *testing.T) {
	s := second("", child(hours(1)))
	s.CronJob.Spec.Suspend = ptr(true)
	s.CronJob.Spec.JobTemplate.Labels = map[string]string{"a": "b"}
	s.CronJob.Spec.JobTemplate.Annotations = map[string]string{"cronjob.kubernetes.io/instantiate": "another"} // overridden by the trigger
	s.Triggers = []cronjob.Trigger{{ID: "b", Overlap: cronjob.Forbid}, {ID: "a"}, {ID: "a"}}
	plan, end := play(t, s)
	if len(plan.Create) != 1 || plan.Create[0].Name != "report-manual-a" {
		t.Fatal(plan.String())
	}
	if got := plan.Create[0].Annotations; len(got) != 1 || got["cronjob.kubernetes.io/instantiate"] != "manual" {
		t.Errorf("annotations %v", got)
	}
	made, template := plan.Create[0].Labels, s.CronJob.Spec.JobTemplate.Labels
	if made["a"] = made["a"] + "c"; made["a"] != "bc" || template["a"] != "b" {
		t.Errorf("labels %v, in the template %v", made, template)
	}
	if !slices.Equal(end.Triggered, []string{"a"}) || len(end.Status.Active) != 2 || !end.Status.LastScheduleTime.Equal(hours(1)) {
		t.Errorf("triggered %q: %s", end.Triggered, end.Status)
	}
	// A crash before the status write: the job is found and not started again.
	s.Children = append(s.Children, cronjob.Child{Name: "report-manual-a", UID: "u"})
	plan = reconcile(t, s)
	want := []string{cronjob.Naming{}.JobName("report", hours(1)), "report-manual-a"}
	if got := names(plan.Settle(cronjob.Writes{}).Status.Active); len(plan.Create) > 0 || !slices.Equal(got, want) {
		t.Errorf("active %v:\n%s", got, plan.String())
	}
	for _, bad := range []cronjob.Trigger{{}, {ID: "x", Overlap: cronjob.Replace}} {
		s.Triggers = []cronjob.Trigger{bad}
		if _, err := cronjob.Reconcile(s); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// A trigger is complete if its job exists, or if its name belongs to another owner.
func TestTriggers_WhatEndsThem(t *testing.T) {
	s := hourly(cronjob.Spec{}, start)
	s.Triggers = []cronjob.Trigger{{ID: "now"}}
	plan := reconcile(t, s)
	for result, over := range map[cronjobreason.Result]bool{
		cronjobreason.ResultDone: true, cronjobreason.ResultAlreadyExists: true, cronjobreason.ResultNameTaken: true,
		cronjobreason.ResultNotTried: false, cronjobreason.ResultUnsuccessful: false, cronjobreason.ResultRefused: false,
	} {
		o := done(&plan)
		o.Created[0].Result = result
		if got := slices.Contains(plan.Conclude(o).Triggered, "now"); got != over {
			t.Errorf("%s: over %v, want %v", result, got, over)
		}
	}
}

// A run waits until the jobs that it replaces are gone. If a trigger started now, the run would
// also replace the trigger's job, so the trigger waits until the run starts.
func TestTriggers_WaitForTheRunThatReplaces(t *testing.T) {
	s := in(second(cronjob.Replace, child(hours(1))), cronjob.Options{ReplaceWhenGone: true})
	s.CronJob.Status.Active, s.Children[0].DeletionTimestamp = nil, hours(2)
	s.Triggers = []cronjob.Trigger{{ID: "a"}, {ID: "b", Overlap: cronjob.Forbid}}
	plan := reconcile(t, s)
	if len(plan.Create) > 0 || strings.Count(plan.String(), `" is held back: 1 active job`) != 2 {
		t.Errorf("the jobs of the triggers would be deleted immediately:\n%s", &plan)
	}
	s.Children = nil
	if plan = reconcile(t, s); len(plan.Create) != 2 || plan.Create[1].Trigger != "a" {
		t.Errorf("the run and the first trigger start:\n%s", &plan)
	}
}

// "At most N jobs at the same time" counts the jobs of triggers.
func TestMaxActive_Triggers(t *testing.T) {
	s := in(hourly(cronjob.Spec{}, hours(1)), cronjob.Options{MaxActive: 2})
	s.Triggers = []cronjob.Trigger{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	plan, end := play(t, s)
	if want := []string{(cronjob.Naming{}).JobName("report", hours(1)), "report-manual-a"}; !slices.Equal(names(end.Status.Active), want) {
		t.Fatalf("got %s, want %q", end.Status, want)
	}
	if strings.Count(plan.String(), "wait: trigger ") != 2 {
		t.Error(plan.String())
	}
}

// C14: the due run has a job without the annotation, which only its name shows. That job is active:
// it holds back a trigger. It is the job of this run alone, so there is no note about shared names.
func TestC14_AJobFoundByNameHoldsBackATrigger(t *testing.T) {
	found := child(hours(2))
	found.ScheduledTime = time.Time{}
	s := hourly(cronjob.Spec{}, hours(2), found)
	s.CronJob.Status.LastScheduleTime, s.Triggers = hours(1), []cronjob.Trigger{{ID: "a", Overlap: cronjob.Forbid}}
	plan, end := play(t, s)
	if len(plan.Create)+len(plan.Notes) > 0 || !slices.Equal(names(end.Status.Active), []string{found.Name}) {
		t.Errorf("active %v:\n%s", end.Status.Active, &plan)
	}
}
