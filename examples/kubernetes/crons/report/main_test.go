package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/examples/kubernetes/crons/internal/play"
	"github.com/batchplan/batchplan/x/blackbox"
	"github.com/batchplan/batchplan/x/kubernetes/controller"

	"github.com/batchplan/batchplan/cronjob"
)

var subject = &blackbox.Cron{Program: blackbox.Program{
	Resources: []blackbox.Resource{play.Resource("ReportSchedule", "reportschedules"), play.Resource("Report", "reports")},
	Parent:    play.Kind("ReportSchedule"),
	Child:     play.Kind("Report"),
	Start:     play.Manager(scheme, reports.SetupWithManager),
	Ended:     func(o blackbox.Object) bool { return ends[o.Text("status", "state")] != "" },
	End: func(o blackbox.Object, succeeded bool) {
		o.Set(time.Now().UTC().Format(time.RFC3339), "status", "end")
		o.Set(map[bool]string{true: "SUCCEEDED", false: "FAILED"}[succeeded], "status", "state")
	},
	Off: play.Off,
},
	New: func(s blackbox.CronSettings) any {
		r := &ReportSchedule{}
		r.Spec.Schedule, r.Spec.Overlap, r.Spec.Suspend, r.Spec.DeadlineSeconds = s.Schedule, cronjob.ConcurrencyPolicy(s.Policy), s.Suspend, s.StartingDeadlineSeconds
		r.Spec.KeepSucceeded, r.Spec.KeepFailed, r.Spec.Template.Query = s.KeepSucceeded, s.KeepFailed, "rows"
		return r
	},
	Run: func(o blackbox.Object) time.Time { return o.Time("metadata", "annotations", "example.com/run") },
}

// TestResumed: after a week of suspension, one Report starts, and not one for each missed hour
// (KubeRay).
func TestResumed(t *testing.T) {
	play.Want(t, play.Started(t, subject, blackbox.CronSettings{Schedule: "@hourly", Policy: "Allow", Suspend: true},
		play.Wait(7*24*time.Hour+time.Minute), play.Do(blackbox.Resume), play.Wait(2*time.Hour)),
		"create 8 11:00", "create 8 12:00", "create 8 13:00")
}

// TestOutage: after an outage with more than 100 missed runs, the schedule continues (OpenKruise).
func TestOutage(t *testing.T) {
	play.Want(t, play.Started(t, subject, blackbox.CronSettings{Schedule: "* * * * *", Policy: "Allow"},
		play.Wait(30*time.Second), play.Down(5*time.Hour), play.Wait(time.Minute)),
		"create 1 11:00", "create 1 16:00", "create 1 16:01")
}

// TestExpired: a run whose Report is gone, as after its time to live, does not start again
// (OpenKruise).
func TestExpired(t *testing.T) {
	play.Want(t, play.Started(t, subject, blackbox.CronSettings{Schedule: "@hourly", Policy: "Allow"},
		play.Wait(time.Minute), play.Do(blackbox.Succeed), play.Wait(time.Minute), play.Do(blackbox.Remove), play.Down(time.Minute), play.Wait(time.Hour)),
		"create 1 11:00", "create 1 12:00")
}

// TestReport: the condition shows whether runs start, and keeps the time of its last change.
func TestReport(t *testing.T) {
	s := &ReportSchedule{}
	s.Generation = 4
	next := time.Date(2000, 1, 1, 11, 0, 0, 0, time.UTC)

	for _, test := range []struct {
		name    string
		suspend bool
		report  controller.CronReport
		want    string
	}{
		{"the template is refused", false, controller.CronReport{Err: check(s)}, "False Failed spec.template.query: is required"},
		{"no schedule", false, controller.CronReport{Schedule: cronjob.Compiled{Problem: cronjobreason.ProblemUnknownTimeZone, Message: "Mars/Base"}}, "False UnknownTimeZone Mars/Base"},
		{"suspended", true, controller.CronReport{}, "False Suspended "},
		{"scheduled", false, controller.CronReport{Plan: &cronjob.Plan{NextRun: next}}, "True Scheduled "},
	} {
		s.Spec.Suspend = test.suspend
		report(s, &test.report)
		c := s.Status.Conditions[0]
		if got := fmt.Sprintf("%s %s %s", c.Status, c.Reason, c.Message); got != test.want || c.ObservedGeneration != 4 || len(s.Status.Conditions) != 1 {
			t.Errorf("%s: %q of generation %d, want %q of 4", test.name, got, c.ObservedGeneration, test.want)
		}
	}

	if !s.Status.NextRun.Time.Equal(next) {
		t.Errorf("next run %s", s.Status.NextRun)
	}
}

// TestLives plays random lives, with faults.
func TestLives(t *testing.T) { subject.Test(t, blackbox.Search{Seed: 1, Lives: 4}) }
