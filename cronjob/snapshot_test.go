package cronjob_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/schedule"
)

func TestSnapshotErrors(t *testing.T) {
	for want, change := range map[string]func(*cronjob.Snapshot){
		"cronJob.uid":                          func(s *cronjob.Snapshot) { s.CronJob.UID = "" },
		"cronJob.name":                         func(s *cronjob.Snapshot) { s.CronJob.Name = "" },
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
		s := hourly(cronjob.Spec{}, start)
		change(&s)
		if _, err := cronjob.Reconcile(s); !slices.Equal(fields(err), []string{want}) {
			t.Errorf("%s: %v", want, err)
		}
	}

	for year, want := range map[int]string{0: "-62167219200", 1: "", 9999: "", 10000: "253402300800"} {
		first := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		last := first.AddDate(1, 0, 0).Add(-1)
		for now, want := range map[time.Time]string{first.Add(1): want, last: strings.Replace(want, "-62167219200", "-62135596801", 1)} {
			if want != "" {
				want = "now: " + want + ": is outside of the years 1 to 9999"
			}
			s := hourly(cronjob.Spec{}, now)
			if _, err := cronjob.Reconcile(s); year < 10000 && strings.TrimPrefix(fmt.Sprint(err), "<nil>") != want ||
				year == 10000 && now.Equal(first.Add(1)) && fmt.Sprint(err) != want {
				t.Errorf("%s: got %v, want %q", now, err, want)
			}
		}
	}
}

// A snapshot without a schedule is the adapter's mistake, not the user's. So it is an error, and
// there is no event about an invalid schedule.
func TestSnapshotErrors_NotCompiled(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(1.5))
	s.Schedule = cronjob.Compiled{}
	_, err := cronjob.Reconcile(s)
	if !slices.Equal(fields(err), []string{"schedule"}) || !strings.Contains(err.Error(), "cronjob.Compile") {
		t.Errorf("got %v", err)
	}
}

// Without a time from which runs count, all runs since the year 1 would be missed.
func TestSnapshotErrors_NoBeginning(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(1.5))
	s.CronJob.CreationTimestamp = time.Time{}
	if _, err := cronjob.Reconcile(s); !slices.Equal(fields(err), []string{"cronJob.creationTimestamp"}) {
		t.Errorf("got %v", err)
	}
	s.CronJob.Status.LastScheduleTime = start
	if got := created(t, reconcile(t, s)); !got.Equal(hours(1)) {
		t.Errorf("with a lastScheduleTime got %s", got)
	}
}

// TestErrorsNameFieldValueAndProblem: the text of an error has the field, the value and the
// problem, in that order.
func TestErrorsNameFieldValueAndProblem(t *testing.T) {
	validated := func(change func(*cronjob.Spec)) error {
		s := cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace, FailedJobsHistoryLimit: ptr[int32](0), SuccessfulJobsHistoryLimit: ptr[int32](0)}
		change(&s)
		return cronjob.Validate(s)
	}

	trigger, backfill := hourly(cronjob.Spec{}, start), hourly(cronjob.Spec{}, start)
	trigger.Triggers, backfill.Backfills = []cronjob.Trigger{{}}, []cronjob.Backfill{{ID: "b"}}
	_, noID := cronjob.Reconcile(trigger)
	_, noBeginning := cronjob.Reconcile(backfill)
	_, halfAKind := cronjob.Reconcile(in(hourly(cronjob.Spec{}, start), cronjob.Options{ChildKind: cronjob.Kind{Kind: "Work"}}))

	for want, err := range map[string]error{
		`options.childKind: " Work": needs both kind and apiVersion, or neither`: halfAKind,
		"<nil>":                               validated(func(*cronjob.Spec) {}),
		`triggers.id: "": is required`:        noID,
		`backfills[b].after: "": is required`: noBeginning,
		`spec.schedule: "": is required`:      validated(func(s *cronjob.Spec) { s.Schedule = "" }),
		`spec.concurrencyPolicy: "Never": must be Allow, Forbid or Replace`: validated(func(s *cronjob.Spec) { s.ConcurrencyPolicy = "Never" }),
		"spec.failedJobsHistoryLimit: -1: must not be negative":             validated(func(s *cronjob.Spec) { s.FailedJobsHistoryLimit = ptr[int32](-1) }),
	} {
		if got := fmt.Sprint(err); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

func TestC1_NoPolicyIsAllow(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(1.5), child(hours(0)))
	s.CronJob.Spec.ConcurrencyPolicy = ""
	if plan := reconcile(t, s); len(plan.Create) != 1 {
		t.Error(plan.String())
	}
}

// TestNothingLeftToRun: after the last run of a bounded schedule, the plan has a WaitNever.
func TestNothingLeftToRun(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(3))
	s.Schedule, s.CronJob.Status.LastScheduleTime = cronjob.Compile(&s.CronJob, schedule.NotAfter(hours(1))), hours(1)
	plan, err := cronjob.PlanRound(s)
	if err != nil || !slices.ContainsFunc(plan.Waits, func(w cronjob.Wait) bool { return w.Reason == cronjobreason.WaitNever }) {
		t.Errorf("%v\n%s", err, plan.String())
	}
}

// TestClockBehindTheStatus: the plan waits even if lastScheduleTime is only just in the future.
func TestClockBehindTheStatus(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(1).Add(-time.Millisecond))
	s.CronJob.Status.LastScheduleTime = hours(1)
	plan, err := cronjob.PlanRound(s)
	if err != nil || !slices.ContainsFunc(plan.Waits, func(w cronjob.Wait) bool { return w.Reason == cronjobreason.WaitClock }) {
		t.Errorf("%v\n%s", err, plan.String())
	}
}

// TestNoteBeforeARunIsDue: a deadline of 0 seconds is noted while nothing is due.
func TestNoteBeforeARunIsDue(t *testing.T) {
	s := hourly(cronjob.Spec{StartingDeadlineSeconds: ptr[int64](0)}, hours(1.5))
	s.CronJob.Status.LastScheduleTime = hours(1)
	if plan, err := cronjob.PlanRound(s); err != nil || len(plan.Notes) == 0 || len(plan.Create) > 0 {
		t.Errorf("%v\n%s", err, plan.String())
	}
}
