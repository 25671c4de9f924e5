package cronjob_test

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// CI1: the memory of what was recorded keeps a run from starting again under a snapshot
// whose status is older, once its job has ended and the history has deleted it.
func TestCI1_RecordedInTheMemoryAlone(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1.5))
	plan := reconcile(t, s)
	end := plan.Conclude(done(&plan))
	if !end.Memory.Kept().Recorded.Equal(hours(1)) {
		t.Fatalf("recorded %s", end.Memory.Kept().Recorded)
	}
	s.Memory = end.Memory
	if got := created(t, reconcile(t, s)); !got.IsZero() {
		t.Errorf("the run of %s starts again", got)
	}
	s.Memory.Kept().CronJobUID = "an earlier CronJob of this name"
	if got := created(t, reconcile(t, s)); !got.Equal(hours(1)) {
		t.Errorf("another's memory counts: got %s", got)
	}
}

// A status that could not be written is not remembered as recorded, and the planner says
// so: the next round writes it, and starts nothing twice.
func TestCI3_FailedStatusIsNotRecorded(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1.5))
	s.Triggers = []cronjob.Trigger{{ID: "a"}}
	plan := reconcile(t, s)
	o := done(&plan)
	for _, result := range []cronjob.Result{cronjob.Unsuccessful, cronjob.NotTried} {
		o.Settled = result
		end := plan.Conclude(o)
		if !end.Memory.Kept().Recorded.IsZero() || !end.Retry || len(end.Triggered) > 0 {
			t.Fatalf("%s: %+v", result, end)
		}
		again := s
		again.Memory = end.Memory
		next := reconcile(t, again)
		if len(next.Create) > 0 || !next.Settle(cronjob.Writes{}).Status.LastScheduleTime.Equal(hours(1)) {
			t.Errorf("%s: the round after:\n%s", result, next.String())
		}
	}
}

// M9: what failed is retried with a delay, never planned again at once, whatever else the
// round had to do.
func TestM9_FailedWritesAreNoHotLoop(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace}), hours(3.5), child(hours(1)))
	s.Options.CatchUp = cronjob.CatchUpAll
	for range 3 {
		plan := reconcile(t, s)
		o := done(&plan)
		o.Settled = cronjob.Unsuccessful
		for i := range o.Created {
			o.Created[i] = cronjob.Effect{Result: cronjob.Unsuccessful}
		}
		end := plan.Conclude(o)
		if !end.Retry || !end.Requeue.At.After(s.Now) {
			t.Fatalf("again at %s, retry %t:\n%s", end.Requeue.At, end.Retry, plan.String())
		}
		s.Memory = end.Memory
	}
}

// C1, C5: a job of the active list that another owner has taken over counts as missing:
// it is looked up, and neither replaced nor reported by what the children say of it.
func TestC5_AnActiveJobThatChangedOwners(t *testing.T) {
	for _, ended := range []bool{false, true} {
		taken := child(hours(1))
		if ended {
			taken = finished(taken, job.Complete, hours(1.5))
		}
		taken.Owner = cronjob.Foreign
		c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
		c.Status = cronjob.Status{Active: []cronjob.Reference{ref(taken)}, LastScheduleTime: hours(1)}
		plan := reconcile(t, snapshot(c, hours(1.8), taken))
		if !slices.Equal(plan.Verify, []cronjob.Reference{ref(taken)}) || len(plan.Events)+len(plan.Delete) > 0 {
			t.Errorf("ended %t:\n%s", ended, plan.String())
		}
		if status := plan.Basis().Status; len(status.Active) != 1 || !status.LastSuccessfulTime.IsZero() {
			t.Errorf("ended %t: %s", ended, status)
		}
	}
}

// SkipHeld gives no run up for a job that is perhaps gone: a look-up comes first.
func TestSkipHeld_LooksUpFirst(t *testing.T) {
	gone := child(hours(1))
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Forbid})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(gone)}, LastScheduleTime: hours(1)}
	s := snapshot(c, hours(2))
	s.Options.SkipHeld = true
	plan := reconcile(t, s)
	o := cronjob.Outcome{Writes: cronjob.Writes{Verified: []cronjob.Result{cronjob.Gone}}, Settled: cronjob.Done}
	end := plan.Conclude(o)
	if len(plan.Create) > 0 || !end.Requeue.At.Equal(s.Now) {
		t.Fatal(plan.String())
	}
	s.CronJob.Status, s.Memory = plan.Settle(o.Writes).Status, end.Memory
	if got := created(t, reconcile(t, s)); !got.Equal(hours(2)) {
		t.Errorf("got %s", got)
	}
}

// CI3: an annotation alone does not make a job that of a run: somebody has copied it. The
// name must be the run's, too.
func TestCI3_AnnotationWithoutTheName(t *testing.T) {
	copied := child(hours(1))
	copied.Name = "report-copy"
	plan := reconcile(t, snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1.5), copied))
	if got := created(t, plan); !got.Equal(hours(1)) || len(plan.Unexpected) != 1 || len(plan.Basis().Status.Active) > 0 {
		t.Error(plan.String())
	}
}

// C12: a job to replace that turns out to be gone is as good as deleted: the run starts in
// the same round, and no event tells of a deletion.
func TestC12_AReplacedJobFoundGone(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(child(hours(1)))}, LastScheduleTime: hours(1)}
	plan := reconcile(t, snapshot(c, hours(2)))
	o := done(&plan)
	o.Deleted[0] = cronjob.Effect{Result: cronjob.Gone}
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

// KeepSuccessful, KeepFailed: a job expires exactly at its time, not a moment before; and
// the wake-up is that time.
func TestKeepByAge_ExactlyAtItsTime(t *testing.T) {
	for how, keep := range map[job.ConditionType]cronjob.Options{
		job.Complete: {KeepSuccessful: time.Hour}, job.Failed: {KeepFailed: time.Hour},
	} {
		c := newCronJob(cronjob.Spec{Schedule: "@daily"})
		c.Status.LastScheduleTime, c.Status.LastSuccessfulTime = hours(3), hours(3)
		s := snapshot(c, hours(4).Add(-1), finished(child(hours(2)), how, hours(3)))
		s.Options = keep
		plan := reconcile(t, s)
		if len(plan.Delete) > 0 || !plan.Requeue.At.Equal(hours(4)) || plan.Requeue.Reason != cronjob.WaitHistory {
			t.Errorf("%s, a nanosecond early:\n%s", how, plan.String())
		}
		s.Now = hours(4)
		if plan := reconcile(t, s); len(plan.Delete) != 1 || plan.Delete[0].Reason != cronjob.DeleteExpired {
			t.Errorf("%s, at its time:\n%s", how, plan.String())
		}
	}
}

// S1: "@every" counts from the creation of the CronJob, to the second.
func TestCompile_EveryCountsFromTheCreation(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@every 7h"})
	c.CreationTimestamp = at("2026-01-01T01:02:03Z")
	s := snapshot(c, at("2026-01-01T20:00:00Z"))
	if got, want := created(t, reconcile(t, s)), at("2026-01-01T15:02:03Z"); !got.Equal(want) {
		t.Errorf("got %s, want %s", got, want)
	}
	// An option counts from elsewhere.
	c.CreationTimestamp = time.Time{}
	c.Status.LastScheduleTime = start
	if got := created(t, reconcile(t, snapshot(c, at("2026-01-01T20:00:00Z")))); got.Equal(at("2026-01-01T15:02:03Z")) {
		t.Errorf("without a creation time got %s", got)
	}
}

// CI3: of two runs that a crash kept from being recorded the later one is recorded,
// whatever the order of the children; both are active.
func TestCI3_TheLatestOfTwoUnrecordedRuns(t *testing.T) {
	a, b := child(hours(1)), child(hours(2))
	for _, children := range [][]cronjob.Child{{a, b}, {b, a}} {
		// Suspended, so that nothing else looks at the run that is due.
		plan := reconcile(t, snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly", Suspend: ptr(true)}), hours(2.5), children...))
		status := plan.Settle(cronjob.Writes{}).Status
		if !status.LastScheduleTime.Equal(hours(2)) || !slices.Equal(status.Active, []cronjob.Reference{ref(a), ref(b)}) || len(plan.Create) > 0 {
			t.Error(plan.String())
		}
	}
}

// A job that is being deleted is not deleted again: by the history, by its age, or by a
// run that waits until it is gone.
func TestC2_NothingIsDeletedTwice(t *testing.T) {
	old, running := finished(child(hours(1)), job.Failed, hours(1.5)), child(hours(2))
	old.DeletionTimestamp, running.DeletionTimestamp = hours(3), hours(3)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace, FailedJobsHistoryLimit: ptr[int32](0)})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(running)}, LastScheduleTime: hours(2)}
	s := snapshot(c, hours(3.5), old, running)
	s.Options = cronjob.Options{ReplaceWhenGone: true, KeepFailed: time.Minute}
	if plan := reconcile(t, s); len(plan.Delete)+len(plan.Create) > 0 {
		t.Error(plan.String())
	}
	s.Children[0].DeletionTimestamp, s.Children[1].DeletionTimestamp = time.Time{}, time.Time{}
	if plan := reconcile(t, s); len(plan.Delete) != 2 {
		t.Error(plan.String())
	}
}
