package cronjob_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

// CI1: a run was recorded, and the history has deleted its job. A snapshot may still show an older
// status. The memory's field Recorded keeps the run from starting again.
func TestCI1_RecordedInTheMemoryAlone(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(1.5))
	_, end := play(t, s)
	s.Memory = end.Memory
	if !s.Memory.Kept().Recorded.Equal(hours(1)) {
		t.Fatalf("recorded %s", s.Memory.Kept().Recorded)
	}
	if got := created(t, reconcile(t, s)); !got.IsZero() {
		t.Errorf("the run of %s starts again", got)
	}
	s.Memory.Kept().CronJobUID = "an earlier CronJob of this name"
	if got := created(t, reconcile(t, s)); !got.Equal(hours(1)) {
		t.Errorf("another's memory counts: got %s", got)
	}
}

// A run whose status write has failed is not remembered as recorded, and Retry is set. The next
// round writes the status, and starts nothing twice.
func TestCI3_FailedStatusIsNotRecorded(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(1.5))
	s.Triggers = []cronjob.Trigger{{ID: "a"}}
	plan := reconcile(t, s)
	o := done(&plan)
	for _, result := range []cronjobreason.Result{cronjobreason.ResultUnsuccessful, cronjobreason.ResultNotTried} {
		o.Settled = cronjob.Reply{Result: result}
		end := plan.Conclude(o)
		if !end.Memory.Kept().Recorded.IsZero() || !end.Retry || len(end.Triggered) > 0 {
			t.Fatalf("%s: %+v", result, end)
		}
		s.Memory = end.Memory
		next := reconcile(t, s)
		if len(next.Create) > 0 || !next.Settle(cronjob.Writes{}).Status.LastScheduleTime.Equal(hours(1)) {
			t.Errorf("%s: the round after:\n%s", result, next.String())
		}
	}
}

// M9, CI15: after a failed write, the next round has a delay, no matter what else there is to do.
func TestM9_FailedWritesAreNoHotLoop(t *testing.T) {
	asked := hourly(cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, hours(3.5))
	asked.Triggers = []cronjob.Trigger{{ID: "a"}}
	replacing := hourly(cronjob.Spec{ConcurrencyPolicy: cronjob.Replace}, hours(3.5), child(hours(1)))

	for _, tc := range []struct {
		s       cronjob.Snapshot
		creates bool // in each round
	}{{asked, true}, {replacing, false}} {
		s := tc.s
		s.Options.CatchUp = cronjob.CatchUpAll
		for range 4 {
			plan := reconcile(t, s)
			o := done(&plan)
			o.Settled = cronjob.Reply{Result: cronjobreason.ResultUnsuccessful}
			for i := range o.Created {
				o.Created[i] = cronjob.Effect{Result: cronjobreason.ResultUnsuccessful}
			}

			end := plan.Conclude(o)
			if len(plan.Create) > 0 != tc.creates || !end.Retry || !end.Requeue.At.After(s.Now) {
				t.Fatalf("again at %s, retry %t:\n%s", end.Requeue.At, end.Retry, plan.String())
			}
			s.Memory = end.Memory
		}
	}
}

// CI1: the status write that records a run has no reply, and the run's job is gone before a
// snapshot shows that status. The run does not start again, neither while the next status writes
// conflict nor afterwards.
func TestCI1_GoneBeforeTheStatusIsSeen(t *testing.T) {
	run := child(hours(1))
	complete, other := finished(run, job.ConditionComplete, hours(1.2)), foreign(run)
	other.UID = "other"

	for _, tc := range []struct {
		name  string
		crash bool            // which forgets the memory
		shown []cronjob.Child // the children in successive rounds, until the job is gone
	}{
		{"no child has shown the job", false, nil},
		{"it ran", false, []cronjob.Child{run}},
		{"it has completed", false, []cronjob.Child{run, complete}},
		{"after a crash it was found complete", true, []cronjob.Child{complete}},
		{"after a crash it was found running", true, []cronjob.Child{run}},
		{"another owner has taken its name", false, []cronjob.Child{other}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := behind(t, cronjob.Spec{}, cronjob.Options{}, cronjobreason.ResultUnsuccessful) // the status was written without a reply
			if s.Now = hours(1.3); tc.crash {
				s.Memory = cronjob.Memory{}
			}

			for _, child := range tc.shown {
				conflict(t, &s, child)
			}
			for range 3 {
				conflict(t, &s)
			}
			// A later write succeeds: from then on the memory holds only the recorded time.
			plan, end := play(t, s)
			if got := end.Status.LastScheduleTime; !got.Equal(hours(1)) || len(plan.Create) > 0 {
				t.Fatalf("last run %s:\n%s", got, plan.String())
			}
			if m := kept(end.Memory); !m.Unrecorded.IsZero() || !m.Recorded.Equal(hours(1)) || m.Started != nil {
				t.Errorf("after the write: %+v", m)
			}
			// Or a snapshot shows the status whose reply was lost.
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
	plan, end := playUnwritten(t, *s)
	status := plan.Settle(end.Outcome.Writes)
	if len(plan.Create) > 0 || !status.Write || !status.Status.LastScheduleTime.Equal(hours(1)) || !end.Retry {
		t.Fatalf("writes %v, retry %t:\n%s", status.Status, end.Retry, plan.String())
	}
	s.Memory, s.Children = end.Memory, nil
}

// If status writes fail, the memory holds only the latest unrecorded run. It holds none with the
// preset, and none after a round that records no run.
func TestCI1_UnrecordedIsOneTime(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(1.5))
	preset := kubernetes(s)
	for n := range 5 {
		_, end := playUnwritten(t, s)
		if m := kept(end.Memory); !m.Unrecorded.Equal(hours(float64(n+1))) || len(m.Started) > 1 {
			t.Fatalf("round %d: %+v", n, m)
		}
		s.Memory, s.Now = end.Memory, s.Now.Add(time.Hour)
	}
	backfilling := hourly(cronjob.Spec{}, hours(0.5))
	backfilling.Backfills = []cronjob.Backfill{between("b", -1.5, -0.5, "")}
	for name, s := range map[string]cronjob.Snapshot{
		"the preset": preset, "nothing is due": hourly(cronjob.Spec{}, hours(0.5)), "a backfill's work": backfilling,
	} {
		_, end := playUnwritten(t, s)
		if got := kept(end.Memory).Unrecorded; !got.IsZero() {
			t.Errorf("%s: unrecorded %s", name, got)
		}
	}
	// The preset decides only by the status, even if the memory holds a run.
	preset.Memory = cronjob.Remember(cronjob.Remembered{CronJobUID: "cj-1", Unrecorded: hours(1)})
	if got := created(t, reconcile(t, preset)); !got.Equal(hours(1)) {
		t.Errorf("the preset starts %s", got)
	}
}

// CI1: a fresh read of the status shows that a run was recorded, but the next snapshot comes from a
// cache that is behind, and the job is gone. The run does not start again.
func TestCI1_AFreshLookBetweenStaleOnes(t *testing.T) {
	byHand := cronjob.Child{Name: "report-manual-x", UID: "x", CreationTimestamp: start, StartTime: start}
	for _, settled := range []cronjobreason.Result{cronjobreason.ResultDone, cronjobreason.ResultUnsuccessful} {
		s := hourly(cronjob.Spec{}, hours(1.1))
		plan := reconcile(t, s)
		o := done(&plan)
		fresh := plan.Settle(o.Writes).Status // the status is written, and the reply may be lost
		o.Settled = cronjob.Reply{Result: settled}
		s.Memory, s.Children = plan.Conclude(o).Memory, []cronjob.Child{byHand}
		if plan = reconcile(t, s); len(plan.Create) > 0 || len(plan.Unexpected) != 1 {
			t.Fatal(plan.String())
		}
		looked := s
		looked.CronJob.Status = fresh // re-read, as the comment of Plan.Unexpected demands
		_, end := play(t, looked)
		s.Memory = end.Memory
		if got := created(t, reconcile(t, s)); !got.IsZero() {
			t.Errorf("status %s: the run of %s starts again", settled, got)
		}
	}
}

// A lastScheduleTime in the future is a mistake unless this controller has written it. After a user
// has corrected it, runs start.
func TestCI14_AMistakeOfAnotherWriter(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(1.5))
	s.CronJob.Status.LastScheduleTime = start.AddDate(40, 0, 0)
	goOn(t, &s)
	s.CronJob.Status.LastScheduleTime = hours(0)
	if got := created(t, reconcile(t, s)); !got.Equal(hours(1)) {
		t.Errorf("starts %s", got)
	}

	// No run is left after lastScheduleTime, so nothing waits until the clock reaches that time.
	s = hourly(cronjob.Spec{}, hours(1.5))
	s.Schedule = cronjob.Compile(&s.CronJob, schedule.NotAfter(hours(3)))
	s.CronJob.Status.LastScheduleTime = hours(5)
	if plan := reconcile(t, s); plan.Requeue != (cronjob.Requeue{}) || len(plan.Unstarted) > 0 {
		t.Error(plan.String())
	}
}
