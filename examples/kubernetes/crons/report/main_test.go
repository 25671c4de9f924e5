package main

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/examples/kubernetes/crons/internal/play"
	"github.com/batchplan/batchplan/x/blackbox"

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

// TestResumed: after a week of suspension one Report starts, and not one for each hour that was missed (KubeRay).
func TestResumed(t *testing.T) {
	play.Want(t, play.Started(t, subject, blackbox.CronSettings{Schedule: "@hourly", Policy: "Allow", Suspend: true},
		play.Wait(7*24*time.Hour+time.Minute), play.Do(blackbox.Resume), play.Wait(2*time.Hour)),
		"create 8 11:00", "create 8 12:00", "create 8 13:00")
}

// TestOutage: after an outage in which more than 100 runs were missed, the schedule goes on (OpenKruise).
func TestOutage(t *testing.T) {
	play.Want(t, play.Started(t, subject, blackbox.CronSettings{Schedule: "* * * * *", Policy: "Allow"},
		play.Wait(30*time.Second), play.Down(5*time.Hour), play.Wait(time.Minute)),
		"create 1 11:00", "create 1 16:00", "create 1 16:01")
}

// TestExpired: a run whose Report is gone, as after its time to live, does not start again (OpenKruise).
func TestExpired(t *testing.T) {
	play.Want(t, play.Started(t, subject, blackbox.CronSettings{Schedule: "@hourly", Policy: "Allow"},
		play.Wait(time.Minute), play.Do(blackbox.Succeed), play.Wait(time.Minute), play.Do(blackbox.Remove), play.Down(time.Minute), play.Wait(time.Hour)),
		"create 1 11:00", "create 1 12:00")
}

// TestLives plays random lives, with faults.
func TestLives(t *testing.T) { subject.Test(t, blackbox.Search{Seed: 1, Lives: 4}) }
