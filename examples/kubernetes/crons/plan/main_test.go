package main

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/examples/kubernetes/crons/internal/play"
	"github.com/batchplan/batchplan/x/blackbox"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

var plurals = map[string]string{"Broadcast": "broadcasts", "Pull": "pulls", "Copy": "copies"}

// of returns the controller, with a Plan of one kind of tasks.
func of(kind string) *blackbox.Cron {
	c := &blackbox.Cron{Program: blackbox.Program{
		Resources: []blackbox.Resource{play.Resource("Plan", "plans")},
		Parent:    play.Kind("Plan"),
		Child:     play.Kind(kind),
		Start:     play.Manager(scheme, setup),
		Ended:     func(o blackbox.Object) bool { return o.Text("status", "phase") != "" },
		End: func(o blackbox.Object, succeeded bool) {
			o.Set(time.Now().UTC().Format(time.RFC3339), "status", "end")
			o.Set(map[bool]string{true: "Completed", false: "Failed"}[succeeded], "status", "phase")
		},
		Off: play.Off,
	},
		New: func(s blackbox.CronSettings) any {
			p := &Plan{}
			p.Spec.Schedule, p.Spec.Overlap, p.Spec.Suspend, p.Spec.Kind = s.Schedule, cronjob.ConcurrencyPolicy(s.Policy), s.Suspend, kind
			p.Spec.KeepFailed = s.KeepFailed
			return p
		},
		Run: func(o blackbox.Object) time.Time {
			return o.Time("metadata", "annotations", "batch.kubernetes.io/cronjob-scheduled-timestamp")
		},
		NoDeadline: true,
		NoHistory:  true,
	}

	for kind, plural := range plurals {
		c.Resources = append(c.Resources, play.Resource(kind, plural))
	}
	return c
}

// TestAborted: Forbid does not wait for a task that ended as Aborted (Volcano).
func TestAborted(t *testing.T) {
	for kind := range plurals {
		play.Want(t, play.Started(t, play.EndsAs(*of(kind), "Aborted"), blackbox.CronSettings{Schedule: "@hourly", Policy: "Forbid"},
			play.Wait(time.Minute), play.Do(blackbox.Fail), play.Wait(time.Hour)),
			"create 1 11:00", "create 1 12:00")
	}
}

// TestTerminated: Terminated and Aborted tasks hold nothing back, and are cleaned up like failed
// ones.
func TestTerminated(t *testing.T) {
	one := int32(1)
	for kind := range plurals {
		for _, phase := range []string{"Terminated", "Aborted"} {
			play.Want(t, play.Started(t, play.EndsAs(*of(kind), phase), blackbox.CronSettings{Schedule: "@hourly", Policy: "Forbid", KeepFailed: &one},
				play.Wait(time.Minute), play.Do(blackbox.Fail), play.Wait(time.Hour), play.Do(blackbox.Fail), play.Wait(time.Minute)),
				"create 1 11:00", "create 1 12:00", "delete 1 12:00")
		}
	}
}

// TestPhase: the phase shows whether tasks are started.
func TestPhase(t *testing.T) {
	for _, test := range []struct {
		suspend bool
		report  controller.CronReport
		want    string
	}{
		{false, controller.CronReport{Plan: &cronjob.Plan{}}, "Active"},
		{true, controller.CronReport{Plan: &cronjob.Plan{}}, "Suspended"},
		{false, controller.CronReport{}, "Failed"},
		{true, controller.CronReport{Plan: &cronjob.Plan{}, Schedule: cronjob.Compiled{Problem: cronjobreason.ProblemUnparseableSchedule}}, "Failed"},
	} {
		p := &Plan{}
		p.Spec.Suspend = test.suspend
		if report(p, &test.report); p.Status.Phase != test.want {
			t.Errorf("%+v: %s, want %s", test.report, p.Status.Phase, test.want)
		}
	}
}

// TestThreeKinds: for each of the three kinds, a run whose task is gone does not start again, and
// of more than 100 missed runs one starts (OpenKruise).
func TestThreeKinds(t *testing.T) {
	for kind := range plurals {
		play.Want(t, play.Started(t, of(kind), blackbox.CronSettings{Schedule: "* * * * *", Policy: "Allow"},
			play.Wait(10*time.Second), play.Do(blackbox.Succeed), play.Wait(time.Second), play.Do(blackbox.Remove), play.Wait(20*time.Second),
			play.Down(2*time.Hour), play.Wait(time.Minute)),
			"create 1 11:00", "create 1 13:00", "create 1 13:01")
	}
}

// TestLives plays random lives of each kind, with faults.
func TestLives(t *testing.T) {
	for kind := range plurals {
		t.Run(kind, func(t *testing.T) { of(kind).Test(t, blackbox.Search{Seed: 1, Lives: 1}) })
	}
}
