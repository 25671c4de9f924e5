package cronjob_test

import (
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
	for _, result := range []cronjob.Result{cronjob.ResultUnsuccessful, cronjob.ResultNotTried} {
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

// M9: what failed is retried with a delay, never planned again immediately, whatever else the
// round had to do.
func TestM9_FailedWritesAreNoHotLoop(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace}), hours(3.5), child(hours(1)))
	s.Options.CatchUp = cronjob.CatchUpAll
	for range 3 {
		plan := reconcile(t, s)
		o := done(&plan)
		o.Settled = cronjob.ResultUnsuccessful
		for i := range o.Created {
			o.Created[i] = cronjob.Effect{Result: cronjob.ResultUnsuccessful}
		}
		end := plan.Conclude(o)
		if !end.Retry || !end.Requeue.At.After(s.Now) {
			t.Fatalf("again at %s, retry %t:\n%s", end.Requeue.At, end.Retry, plan.String())
		}
		s.Memory = end.Memory
	}
}

// CI1: the reply to the status write that records a run is lost, and the run's job is gone
// before a snapshot shows that status. The run does not start again, neither while status
// writes meet a later version nor after.
func TestCI1_GoneBeforeTheStatusIsSeen(t *testing.T) {
	run := child(hours(1))
	for _, tc := range []struct {
		name string
		// before is what happens until the job is gone; the status was written without a reply.
		before func(*testing.T, *cronjob.Snapshot)
	}{
		{"no child has shown the job", func(*testing.T, *cronjob.Snapshot) {}},
		{"it ran", func(t *testing.T, s *cronjob.Snapshot) { conflict(t, s, run) }},
		{"it has completed", func(t *testing.T, s *cronjob.Snapshot) {
			conflict(t, s, run)
			conflict(t, s, finished(run, job.ConditionComplete, hours(1.2)))
		}},
		{"after a crash it was found complete", func(t *testing.T, s *cronjob.Snapshot) {
			s.Memory = cronjob.Memory{}
			conflict(t, s, finished(run, job.ConditionComplete, hours(1.2)))
		}},
		{"after a crash it was found running", func(t *testing.T, s *cronjob.Snapshot) {
			s.Memory = cronjob.Memory{}
			conflict(t, s, run)
		}},
		{"another owner has taken its name", func(t *testing.T, s *cronjob.Snapshot) {
			other := run
			other.UID, other.Foreign = "other", true
			conflict(t, s, other)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := behind(t, cronjob.Spec{}, cronjob.Options{}, cronjob.ResultUnsuccessful)
			s.Now = hours(1.3)
			tc.before(t, &s)
			for range 3 {
				conflict(t, &s)
			}
			// A write succeeds: the memory needs no more than the time that was recorded.
			plan := reconcile(t, s)
			end := plan.Conclude(done(&plan))
			if got := end.Status.LastScheduleTime; !got.Equal(hours(1)) || len(plan.Create) > 0 {
				t.Fatalf("last run %s:\n%s", got, plan.String())
			}
			if m := kept(end.Memory); !m.Unrecorded.IsZero() || !m.Recorded.Equal(hours(1)) || m.Started != nil {
				t.Errorf("after the write: %+v", m)
			}
			// Or a snapshot shows the status of the write without a reply.
			s.CronJob.Status.LastScheduleTime = hours(1)
			plan = reconcile(t, s)
			if end := plan.Conclude(cronjob.Outcome{}); len(plan.Create) > 0 || end.Retry || !kept(end.Memory).Unrecorded.IsZero() || kept(end.Memory).Started != nil {
				t.Errorf("after the snapshot: %+v\n%s", kept(end.Memory), plan.String())
			}
			s.Now = hours(2)
			if got := created(t, reconcile(t, s)); !got.Equal(hours(2)) {
				t.Errorf("then %s starts", got)
			}
		})
	}
}

// conflict plays a round in which look-ups find no job and the status write fails.
func conflict(t *testing.T, s *cronjob.Snapshot, children ...cronjob.Child) {
	t.Helper()
	s.Children = children
	plan := reconcile(t, *s)
	o := done(&plan)
	o.Settled = cronjob.ResultUnsuccessful
	end := plan.Conclude(o)
	status := plan.Settle(o.Writes)
	if len(plan.Create) > 0 || !status.Write || !status.Status.LastScheduleTime.Equal(hours(1)) || !end.Retry {
		t.Fatalf("writes %v, retry %t:\n%s", status.Status, end.Retry, plan.String())
	}
	s.Memory, s.Children = end.Memory, nil
}

// The memory of a failed status write is one time: later runs take its place. The preset
// keeps none, and neither does a round that records no run.
func TestCI1_UnrecordedIsOneTime(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1.5))
	for n := range 5 {
		plan := reconcile(t, s)
		o := done(&plan)
		o.Settled = cronjob.ResultUnsuccessful
		end := plan.Conclude(o)
		if m := kept(end.Memory); !m.Unrecorded.Equal(hours(float64(n+1))) || len(m.Started) > 1 {
			t.Fatalf("round %d: %+v", n, m)
		}
		s.Memory, s.Now = end.Memory, s.Now.Add(time.Hour)
	}
	for name, s := range map[string]cronjob.Snapshot{
		"the preset":        kubernetes(snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1.5))),
		"nothing is due":    snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(0.5)),
		"a backfill's work": backfilling(),
	} {
		plan := reconcile(t, s)
		o := done(&plan)
		o.Settled = cronjob.ResultUnsuccessful
		if got := kept(plan.Conclude(o).Memory).Unrecorded; !got.IsZero() {
			t.Errorf("%s: unrecorded %s", name, got)
		}
	}
	// The preset decides by the status alone, whatever the memory holds.
	s = kubernetes(snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1.5)))
	s.Memory = cronjob.Remember(cronjob.Remembered{CronJobUID: "cj-1", Unrecorded: hours(1)})
	if got := created(t, reconcile(t, s)); !got.Equal(hours(1)) {
		t.Errorf("the preset starts %s", got)
	}
}

// backfilling is the snapshot of a CronJob that only a backfill gives something to do.
func backfilling() cronjob.Snapshot {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(0.5))
	s.Backfills = []cronjob.Backfill{{ID: "b", After: hours(-1.5), Until: hours(-0.5)}}
	return s
}

// CI1: a fresh look at the status shows that a run was recorded, and the next snapshot comes from
// a cache that is behind. By then the job is gone. The run does not start again.
func TestCI1_AFreshLookBetweenStaleOnes(t *testing.T) {
	byHand := cronjob.Child{Name: "report-manual-x", UID: "x", CreationTimestamp: start, StartTime: start}
	for _, settled := range []cronjob.Result{cronjob.ResultDone, cronjob.ResultUnsuccessful} {
		s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1.1))
		plan := reconcile(t, s)
		o := done(&plan)
		fresh := plan.Settle(o.Writes).Status // the status is written, and the reply may be lost
		o.Settled = settled
		s.Memory, s.Children = plan.Conclude(o).Memory, []cronjob.Child{byHand}
		if plan = reconcile(t, s); len(plan.Create) > 0 || len(plan.Unexpected) != 1 {
			t.Fatal(plan.String())
		}
		looked := s
		looked.CronJob.Status = fresh // as Plan.Unexpected asks for
		plan = reconcile(t, looked)
		s.Memory = plan.Conclude(done(&plan)).Memory
		if got := created(t, reconcile(t, s)); !got.IsZero() {
			t.Errorf("status %s: the run of %s starts again", settled, got)
		}
	}
}

// A lastScheduleTime in the future is a mistake unless this controller has written it: once a
// user has corrected it, runs start.
func TestCI14_AMistakeOfAnotherWriter(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	c.Status.LastScheduleTime = start.AddDate(40, 0, 0)
	s := snapshot(c, hours(1.5))
	plan := reconcile(t, s)
	s.Memory = plan.Conclude(done(&plan)).Memory
	s.CronJob.Status.LastScheduleTime = hours(0)
	if got := created(t, reconcile(t, s)); !got.Equal(hours(1)) {
		t.Errorf("starts %s", got)
	}
}
