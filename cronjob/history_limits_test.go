package cronjob_test

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
)

func TestC2_CI11_HistoryDeletesTheOldest(t *testing.T) {
	now := start.Add(10 * time.Hour)
	var children []cronjob.Child
	for i := range 5 {
		run := start.Add(time.Duration(i+1) * time.Hour)
		children = append(children, finished(child(run), job.ConditionComplete, run.Add(time.Minute)))
	}
	children[0].StartTime = time.Time{} // never started: forgotten last
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", SuccessfulJobsHistoryLimit: ptr[int32](2)})
	c.Status.LastScheduleTime = now
	slices.Reverse(children)
	plan := reconcile(t, snapshot(c, now, children...))
	var got []string
	for _, d := range plan.Delete {
		got = append(got, d.Name)
	}
	want := []string{"report-29453880", "report-29453940", "report-29454000"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}

	c.Spec.SuccessfulJobsHistoryLimit = nil
	if plan := reconcile(t, snapshot(c, now, children...)); len(plan.Delete) > 0 {
		t.Error("a nil limit keeps all")
	}
}

// TestC2_CL4_ClockBackBeforeABackfilledRun: a backfill has started a run, and then the clock went back
// before it. The job goes once the run can be recorded, also if nothing else happens.
func TestC2_CL4_ClockBackBeforeABackfilledRun(t *testing.T) {
	run := start.Add(time.Hour)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", Suspend: ptr(true), SuccessfulJobsHistoryLimit: ptr[int32](0)})
	backfilled := finished(child(run), job.ConditionComplete, run.Add(-time.Second))
	backfilled.Backfilled = true
	c.Status.LastSuccessfulTime = backfilled.CompletionTime
	for _, jitter := range []time.Duration{0, 50 * time.Minute} { // which a backfill does not wait for
		s := snapshot(c, run.Add(-time.Second), backfilled)
		s.Options.Jitter = jitter
		if plan := reconcile(t, s); !plan.Requeue.At.Equal(run) {
			t.Errorf("jitter %s: again at %s, want %s\n%s", jitter, plan.Requeue.At, run, plan.String())
		}
	}
	if plan := reconcile(t, snapshot(c, run, backfilled)); !plan.Settle(cronjob.Writes{}).Status.LastScheduleTime.Equal(run) {
		t.Errorf("the run is not recorded:\n%s", plan.String())
	}
}

// TestC2_CL4_OlderRunIsGivenUp: a backfill has started a run, and the schedule may still start an older one. While the
// CronJob is suspended it does not, and later the older one is beyond the limit or its deadline. The job goes then, also if
// nothing else happens.
func TestC2_CL4_OlderRunIsGivenUp(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", Suspend: ptr(true), SuccessfulJobsHistoryLimit: ptr[int32](0)})
	backfilled := finished(child(hours(3)), job.ConditionComplete, hours(3.1))
	backfilled.Backfilled = true
	c.Status.LastSuccessfulTime = backfilled.CompletionTime
	for _, tc := range []struct {
		name  string
		o     cronjob.Options
		again time.Time
	}{
		{"limit", cronjob.Options{CatchUp: cronjob.CatchUpAll, CatchUpLimit: 2}, hours(4)},
		{"window", cronjob.Options{CatchUp: cronjob.CatchUpAll, CatchUpWindow: 90 * time.Minute}, hours(3.5)},
		{"both", cronjob.Options{CatchUp: cronjob.CatchUpAll, CatchUpLimit: 2, CatchUpWindow: 90 * time.Minute}, hours(3.5)},
		{"neither is reached", cronjob.Options{CatchUp: cronjob.CatchUpAll, CatchUpLimit: 4}, time.Time{}},
	} {
		s := snapshot(c, hours(3.2), backfilled)
		s.Options = tc.o
		plan := reconcile(t, s)
		if !plan.Requeue.At.Equal(tc.again) || !plan.Settle(cronjob.Writes{}).Status.LastScheduleTime.IsZero() {
			t.Errorf("%s: again at %s, want %s\n%s", tc.name, plan.Requeue.At, tc.again, plan.String())
		}
		if s.Now = tc.again; s.Now.IsZero() {
			continue
		}
		if plan := reconcile(t, s); !plan.Settle(cronjob.Writes{}).Status.LastScheduleTime.Equal(hours(3)) {
			t.Errorf("%s: the run is not recorded:\n%s", tc.name, plan.String())
		}
	}
}

// The job of a run that is not recorded is its only trace.
func TestC2_CI1_HistoryKeepsWhatIsNotRecorded(t *testing.T) {
	run := start.Add(time.Hour)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", SuccessfulJobsHistoryLimit: ptr[int32](0)})
	s := snapshot(c, run.Add(time.Minute), finished(child(run), job.ConditionComplete, run))
	plan := reconcile(t, s)
	if len(plan.Delete)+len(plan.Create) > 0 {
		t.Fatal(plan.String())
	}
	outcome := cronjob.Outcome{Settled: cronjob.ResultDone}
	settled := plan.Settle(outcome.Writes)
	if !settled.Write || !settled.Status.LastScheduleTime.Equal(run) {
		t.Fatal(settled.Status)
	}
	if end := plan.Conclude(outcome); !end.Requeue.At.Equal(s.Now) {
		t.Errorf("again at %s, want immediately", end.Requeue.At)
	}
	s.CronJob.Status = settled.Status
	if plan := reconcile(t, s); len(plan.Delete) != 1 {
		t.Error(plan.String())
	}
}

// TestC2_HistoryKeepsWhatTheStatusNames: the job goes in the round after the one that
// takes it out of the active list, which follows immediately. It is deleted immediately with
// cronjobquirk.EagerHistory. KeepFailed does the same as the limit.
func TestC2_HistoryKeepsWhatTheStatusNames(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", FailedJobsHistoryLimit: ptr[int32](0)})
	old := finished(child(hours(1)), job.ConditionFailed, hours(1.1))
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(old)}, LastScheduleTime: hours(1)}
	aged := c
	aged.Spec.FailedJobsHistoryLimit = nil
	for _, tc := range []struct {
		name  string
		c     cronjob.CronJob
		o     cronjob.Options
		first int
	}{
		{"limit", c, cronjob.Options{}, 0},
		{"age", aged, cronjob.Options{KeepFailed: time.Minute}, 0},
		{"quirk", c, cronjob.Options{Quirks: cronjobquirk.EagerHistory}, 1},
	} {
		s := snapshot(tc.c, hours(1.5), old)
		s.Options = tc.o
		plan := reconcile(t, s)
		if len(plan.Delete) != tc.first {
			t.Errorf("%s: %s", tc.name, plan.String())
			continue
		}
		if tc.first > 0 {
			continue
		}
		outcome := cronjob.Outcome{Settled: cronjob.ResultDone}
		if end := plan.Conclude(outcome); !end.Requeue.At.Equal(s.Now) {
			t.Errorf("%s: again at %s, want immediately", tc.name, end.Requeue.At)
		}
		s.CronJob.Status = plan.Settle(outcome.Writes).Status
		if plan := reconcile(t, s); len(s.CronJob.Status.Active) > 0 || len(plan.Delete) != 1 {
			t.Errorf("%s: %s", tc.name, plan.String())
		}
	}
}

// A job that is being deleted is not deleted again: by the history, by its age, or by a
// run that waits until it is gone.
func TestC2_NothingIsDeletedTwice(t *testing.T) {
	old, running := finished(child(hours(1)), job.ConditionFailed, hours(1.5)), child(hours(2))
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

// C2: jobs without a start time are forgotten last; C2, KeepSuccessful: those without
// an end, and those that are being deleted, do not expire.
func TestC2_OddJobsOfTheHistory(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", SuccessfulJobsHistoryLimit: ptr[int32](1)})
	c.Status.LastScheduleTime, c.Status.LastSuccessfulTime = hours(9), hours(9)
	neverStarted := finished(child(hours(1)), job.ConditionComplete, hours(1))
	neverStarted.StartTime = time.Time{}
	second := finished(child(hours(2)), job.ConditionComplete, hours(2))
	for _, children := range [][]cronjob.Child{{neverStarted, second}, {second, neverStarted}} {
		plan := reconcile(t, snapshot(c, hours(9.5), children...))
		if len(plan.Delete) != 1 || plan.Delete[0].Name != second.Name {
			t.Error(plan.String())
		}
	}

	twin := second
	twin.Name = "twin"
	if _, err := cronjob.Reconcile(snapshot(c, hours(9.5), second, twin, finished(child(hours(3)), job.ConditionComplete, hours(3)))); len(fields(err)) != 1 {
		t.Errorf("two jobs of one UID: %v", err)
	}

	c.Spec.SuccessfulJobsHistoryLimit = nil
	endless, leaving := finished(child(hours(3)), job.ConditionComplete, time.Time{}), finished(child(hours(4)), job.ConditionComplete, hours(4))
	leaving.DeletionTimestamp = hours(9)
	s := snapshot(c, hours(9.5), endless, leaving)
	s.Options.KeepSuccessful = 1
	if plan := reconcile(t, s); len(plan.Delete) > 0 || plan.Requeue.Reason != cronjob.WaitNextRun {
		t.Error(plan.String())
	}
}

// C2: the history deletes the jobs of backfills that are later than lastScheduleTime, though the
// CronJob stays suspended: the latest such run is recorded first, so that none of them can start
// again. With CatchUpAll a job stays while an older run may still be made up.
func TestC2_BackfilledJobsOfASuspendedCronJob(t *testing.T) {
	for _, tc := range []struct {
		name    string
		catchUp cronjob.CatchUp
		runs    []float64 // that the backfill has started
		last    time.Time
		left    int
	}{
		{"the latest run would start", cronjob.CatchUpLatest, []float64{2, 3, 4}, hours(4), 0},
		{"the latest run was backfilled", cronjob.CatchUpLatest, []float64{8, 9}, hours(9), 0},
		{"all are made up, and an older one is left", cronjob.CatchUpAll, []float64{2, 3, 4}, time.Time{}, 3},
		{"all are made up, and the first ones were backfilled", cronjob.CatchUpAll, []float64{1, 2, 4}, hours(2), 1},
	} {
		c := newCronJob(cronjob.Spec{Schedule: "@hourly", Suspend: ptr(true), SuccessfulJobsHistoryLimit: ptr[int32](0)})
		s := snapshot(c, hours(9.5))
		s.Options.CatchUp, s.Options.Jitter = tc.catchUp, 40*time.Minute // which no backfill waits for
		for _, run := range tc.runs {
			job := finished(child(hours(run)), job.ConditionComplete, hours(9))
			job.Backfilled = true
			s.Children = append(s.Children, job)
		}
		for range 3 {
			plan := reconcile(t, s)
			end := plan.Conclude(done(&plan))
			for _, d := range plan.Delete {
				s.Children = slices.DeleteFunc(s.Children, func(c cronjob.Child) bool { return c.UID == d.UID })
			}
			s.CronJob.Status, s.Memory = end.Status, end.Memory
		}
		if !s.CronJob.Status.LastScheduleTime.Equal(tc.last) || len(s.Children) != tc.left {
			t.Errorf("%s: last %s, %d jobs are left", tc.name, s.CronJob.Status.LastScheduleTime, len(s.Children))
		}
		s.CronJob.Spec.Suspend = ptr(false)
		plan := reconcile(t, s)
		for _, run := range tc.runs {
			if got := created(t, plan); got.Equal(hours(run)) {
				t.Errorf("%s: the run of %s starts again", tc.name, got)
			}
		}
	}
}

// C2, CL2: the status that names a job is written, and the snapshot does not show it yet. The job
// stays until it does, and the controller asks for a round: afterwards nothing would take the job
// out of the active list.
func TestC2_CL2_HistoryKeepsWhatAnUnseenStatusNames(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", Suspend: ptr(true), FailedJobsHistoryLimit: ptr(int32(0))})
	s := snapshot(c, hours(0.5))
	s.Triggers = []cronjob.Trigger{{ID: "t"}}
	plan := reconcile(t, s)
	o := done(&plan)
	s.Memory, s.Triggers, s.Now = plan.Conclude(o).Memory, nil, hours(0.6)
	written := plan.Settle(o.Writes).Status
	ended := finished(cronjob.Child{Name: plan.Create[0].Name, UID: o.Created[0].Job.UID, StartTime: hours(0.5)}, job.ConditionFailed, hours(0.6))
	s.Children = []cronjob.Child{ended}
	for range 3 { // the cache shows the job, and not the status
		plan = reconcile(t, s)
		end := plan.Conclude(done(&plan))
		if len(plan.Delete) > 0 || !waitsForNewer(&end) {
			t.Fatalf("again %v\n%s", end.Requeue, plan.String())
		}
		s.Memory, s.Now = end.Memory, s.Now.Add(time.Minute)
	}
	unseen := s
	s.CronJob.Status = written
	plan = reconcile(t, s)
	if got := reasons(plan.Events); !slices.Contains(got, "SawCompletedJob") || len(plan.Settle(cronjob.Writes{}).Status.Active) > 0 {
		t.Errorf("events %v\n%s", got, plan.String())
	}
	unseen.Now = hours(0.8) // another writer has taken the job out of the status
	for retry := true; retry; {
		plan = reconcile(t, unseen)
		end := plan.Conclude(done(&plan))
		unseen.Memory, retry = end.Memory, end.Retry
	}
	if len(plan.Delete) != 1 {
		t.Errorf("after five minutes:\n%s", plan.String())
	}
}

// C2: the run of a backfill ends before its jitter is over. The wake-up is then.
func TestC2_BackfilledJobsThatEndWithinTheirJitter(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", Suspend: ptr(true), SuccessfulJobsHistoryLimit: ptr(int32(0))})
	c.Status = cronjob.Status{LastSuccessfulTime: hours(1.01)}
	s := snapshot(c, hours(1).Add(10*time.Second), finished(backfilledChild(1), job.ConditionComplete, hours(1).Add(5*time.Second)))
	s.Options.Jitter = 50 * time.Minute
	for range 3 {
		plan := reconcile(t, s)
		end := plan.Conclude(done(&plan))
		if len(plan.Delete) > 0 {
			return
		}
		s.CronJob.Status, s.Memory = end.Status, end.Memory
		if s.Now = end.Requeue.At; s.Now.IsZero() {
			t.Fatalf("no wake-up\n%s", plan.String())
		}
	}
	t.Error("the job stays")
}
