package cronjob_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
)

func TestSnapshotErrors(t *testing.T) {
	good := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), start)
	for want, change := range map[string]func(*cronjob.Snapshot){
		"cronJob.uid":                          func(s *cronjob.Snapshot) { s.CronJob.UID = "" },
		"now":                                  func(s *cronjob.Snapshot) { s.Now = time.Time{} },
		"schedule":                             func(s *cronjob.Snapshot) { s.CronJob.Spec.Schedule = "@daily" },
		"cronJob.spec.concurrencyPolicy":       func(s *cronjob.Snapshot) { s.CronJob.Spec.ConcurrencyPolicy = "x" },
		"cronJob.spec.startingDeadlineSeconds": func(s *cronjob.Snapshot) { s.CronJob.Spec.StartingDeadlineSeconds = ptr[int64](-1) },
		"cronJob.spec.failedJobsHistoryLimit":  func(s *cronjob.Snapshot) { s.CronJob.Spec.FailedJobsHistoryLimit = ptr[int32](-1) },
		"options.catchUpWindow":                func(s *cronjob.Snapshot) { s.Options.CatchUpWindow = -1 },
		"options.catchUpLimit":                 func(s *cronjob.Snapshot) { s.Options.CatchUpLimit = -1 },
		"options.maxActive":                    func(s *cronjob.Snapshot) { s.Options.MaxActive = -1 },
		"options.jitter":                       func(s *cronjob.Snapshot) { s.Options.Jitter = -1 },
		"options.keepSuccessful":               func(s *cronjob.Snapshot) { s.Options.KeepSuccessful = -1 },
		"options.keepFailed":                   func(s *cronjob.Snapshot) { s.Options.KeepFailed = -1 },
	} {
		s := good
		change(&s)
		_, err := cronjob.Reconcile(s)
		if got := fields(err); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %v", want, err)
		}
	}
	s := good
	s.Backfills = []cronjob.Backfill{{ID: "b"}}
	if _, err := cronjob.Reconcile(s); err == nil || err.Error() != `backfills[b].after: "": is required` {
		t.Errorf("a backfill without a beginning: %v", err)
	}
	s = good
	s.Now = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := cronjob.Reconcile(s); err == nil {
		t.Error("the year 10000 must be refused")
	}
}

// A snapshot without a schedule is the adapter's mistake, not the user's: no event tells
// the user of an invalid schedule.
func TestSnapshotErrors_NotCompiled(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1.5))
	s.Schedule = cronjob.Compiled{}
	_, err := cronjob.Reconcile(s)
	if !slices.Equal(fields(err), []string{"schedule"}) || !strings.Contains(err.Error(), "cronjob.Compile") {
		t.Errorf("got %v", err)
	}
}

// Without any time from which runs count, all runs since the year 1 would be missed.
func TestSnapshotErrors_NoBeginning(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	c.CreationTimestamp = time.Time{}
	if _, err := cronjob.Reconcile(snapshot(c, hours(1.5))); !slices.Equal(fields(err), []string{"cronJob.creationTimestamp"}) {
		t.Errorf("got %v", err)
	}
	c.Status.LastScheduleTime = start
	if got := created(t, reconcile(t, snapshot(c, hours(1.5)))); !got.Equal(hours(1)) {
		t.Errorf("with a lastScheduleTime got %s", got)
	}
}

// TestErrorsNameFieldValueAndProblem: the whole text of an error, in that order.
func TestErrorsNameFieldValueAndProblem(t *testing.T) {
	good := func(change func(*cronjob.Spec)) cronjob.Spec {
		s := cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace, FailedJobsHistoryLimit: ptr[int32](0), SuccessfulJobsHistoryLimit: ptr[int32](0)}
		if change != nil {
			change(&s)
		}
		return s
	}
	trigger := snapshot(newCronJob(good(nil)), start)
	trigger.Triggers = []cronjob.Trigger{{}}
	_, noID := cronjob.Reconcile(trigger)
	for want, err := range map[string]error{
		"<nil>":                          cronjob.Validate(good(nil)),
		`triggers.id: "": is required`:   noID,
		`spec.schedule: "": is required`: cronjob.Validate(good(func(s *cronjob.Spec) { s.Schedule = "" })),
		`spec.concurrencyPolicy: "Never": must be Allow, Forbid or Replace`: cronjob.Validate(good(func(s *cronjob.Spec) { s.ConcurrencyPolicy = "Never" })),
		"spec.failedJobsHistoryLimit: -1: must not be negative":             cronjob.Validate(good(func(s *cronjob.Spec) { s.FailedJobsHistoryLimit = ptr[int32](-1) })),
	} {
		if got := fmt.Sprint(err); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}
