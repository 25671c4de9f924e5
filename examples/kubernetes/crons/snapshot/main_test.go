package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/examples/kubernetes/crons/internal/play"
	"github.com/batchplan/batchplan/x/blackbox"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

var subject = &blackbox.Cron{Program: blackbox.Program{
	Resources: []blackbox.Resource{play.Cluster(play.Resource("SnapshotPolicy", "snapshotpolicies")), play.Cluster(play.Resource("Snapshot", "snapshots"))},
	Parent:    play.Kind("SnapshotPolicy"),
	Child:     play.Kind("Snapshot"),
	Start:     play.Manager(scheme, snapshots.SetupWithManager),
	Owned: func(parent, child blackbox.Object) bool {
		return child.Text("metadata", "labels", "example.com/policy-uid") == parent.UID()
	},
	Ended: func(o blackbox.Object) bool { return ends[o.Text("status", "phase")] != "" },
	End: func(o blackbox.Object, succeeded bool) {
		o.Set(time.Now().UTC().Format(time.RFC3339), "status", "end")
		o.Set(map[bool]string{true: "Ready", false: "Error"}[succeeded], "status", "phase")
	},
	Off: play.Off,
},
	New: func(s blackbox.CronSettings) any {
		p := &SnapshotPolicy{}
		p.Spec.Schedule, p.Spec.Overlap, p.Spec.Suspend, p.Spec.DeadlineSeconds = s.Schedule, cronjob.ConcurrencyPolicy(s.Policy), s.Suspend, s.StartingDeadlineSeconds
		return p
	},
	Run: func(o blackbox.Object) time.Time {
		seconds, err := strconv.ParseInt(o.Name()[strings.LastIndex(o.Name(), "-")+1:], 10, 64)
		if err != nil {
			panic(fmt.Sprintf("name %q: %v", o.Name(), err))
		}
		return time.Unix(seconds, 0).UTC()
	},
	Jitter:    30 * time.Second,
	NoHistory: true,
}

// TestMissedDeadline: one run that misses its deadline does not end the schedule (Crossplane).
func TestMissedDeadline(t *testing.T) {
	late := int64(60)
	play.Want(t, play.Started(t, subject, blackbox.CronSettings{Schedule: "@hourly", Policy: "Allow", StartingDeadlineSeconds: &late},
		play.Wait(2*time.Minute), play.Down(80*time.Minute), play.Wait(time.Hour)),
		"create 1 11:00", "create 1 13:00")
}

// TestLatest: after an outage the latest of the missed runs starts, not the oldest (Crossplane).
func TestLatest(t *testing.T) {
	latest := *subject
	var runs []string
	latest.Run = func(o blackbox.Object) time.Time {
		runs = append(runs, subject.Run(o).Format("15:04"))
		return subject.Run(o)
	}
	play.Started(t, &latest, blackbox.CronSettings{Schedule: "@hourly", Policy: "Allow"}, play.Wait(2*time.Minute), play.Down(5*time.Hour), play.Wait(time.Minute))
	if len(runs) < 2 || runs[0] != "11:00" || runs[1] != "16:00" {
		t.Errorf("runs %q", runs)
	}
}

// TestNameThatExists: if the reply to a creation is lost, or the controller crashes after it, the
// Snapshot is found by its name. There is no second one, and no loop (Crossplane).
func TestNameThatExists(t *testing.T) {
	for _, fault := range []blackbox.Fault{blackbox.LoseReply, blackbox.CrashAfter} {
		for nth := 1; nth <= 2; nth++ { // the creation, and the write of the status
			play.Want(t, play.Started(t, subject, blackbox.CronSettings{Schedule: "@hourly", Policy: "Allow"},
				play.Break(fault, nth), play.Wait(time.Hour+2*time.Minute)),
				"create 1 11:00", "create 1 12:00")
		}
	}
}

// TestSpread: runs start spread over half a minute, and none is skipped (csi-addons).
func TestSpread(t *testing.T) {
	var want []string
	for n := range 30 {
		want = append(want, fmt.Sprintf("create 1 11:%02d", n))
	}
	play.Want(t, play.Started(t, subject, blackbox.CronSettings{Schedule: "* * * * *", Policy: "Allow"}, play.Wait(30*time.Minute)), want...)
}

// TestReport: the condition shows whether runs start. If none does, an event reports it once per
// edit.
func TestReport(t *testing.T) {
	p := &SnapshotPolicy{}

	for i, test := range []struct {
		name    string
		suspend bool
		report  controller.CronReport
		want    string
		events  int
	}{
		{"scheduled", false, controller.CronReport{}, "True Scheduled ", 0},
		{"suspended", true, controller.CronReport{}, "False Suspended ", 1},
		{"suspended, and no schedule", true, controller.CronReport{Schedule: cronjob.Compiled{Problem: cronjobreason.ProblemUnparseableSchedule, Message: "x"}}, "False UnparseableSchedule x", 1},
		{"a round that fails", false, controller.CronReport{Err: errors.New("no reply")}, "False Failed no reply", 0},
	} {
		p.Generation, p.Spec.Suspend = int64(i+1), test.suspend
		first := len(announce(p, controller.CronJobRound{}, nil))

		report(p, &test.report)
		c := p.Status.Conditions[0]
		if got := fmt.Sprintf("%s %s %s", c.Status, c.Reason, c.Message); got != test.want || c.ObservedGeneration != p.Generation {
			t.Errorf("%s: %q of generation %d, want %q", test.name, got, c.ObservedGeneration, test.want)
		}
		if again := len(announce(p, controller.CronJobRound{}, nil)); first != test.events || again > 0 {
			t.Errorf("%s: %d events, and %d again", test.name, first, again)
		}
	}
}

// TestCreatedNotRunning: a Snapshot that was created but does not run yet counts as active.
func TestCreatedNotRunning(t *testing.T) {
	for policy, want := range map[string][]string{
		"Forbid":  {"create 1 11:00"},
		"Replace": {"create 1 11:00", "delete 1 12:00", "create 1 12:00"},
	} {
		play.Want(t, play.Started(t, subject, blackbox.CronSettings{Schedule: "@hourly", Policy: policy}, play.Wait(time.Hour+2*time.Minute)), want...)
	}
}

// TestLives plays random lives, with faults.
func TestLives(t *testing.T) { subject.Test(t, blackbox.Search{Seed: 1, Lives: 4}) }
