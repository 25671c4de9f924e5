package cronjob_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

func TestC2_CI11_HistoryDeletesTheOldest(t *testing.T) {
	var children []cronjob.Child
	for run := 5.0; run >= 1; run-- {
		children = append(children, finished(child(hours(run)), job.ConditionComplete, hours(run+0.1)))
	}
	children[4].StartTime = time.Time{} // never started: deleted last
	s := hourly(cronjob.Spec{SuccessfulJobsHistoryLimit: ptr[int32](2)}, hours(10), children...)
	s.CronJob.Status.LastScheduleTime = hours(10)

	for range 2 { // in both orders
		var got []string
		for _, d := range reconcile(t, s).Delete {
			got = append(got, d.Name)
		}
		if want := []string{"report-29453880", "report-29453940", "report-29454000"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		slices.Reverse(children)
	}

	s.CronJob.Spec.SuccessfulJobsHistoryLimit = nil
	if plan := reconcile(t, s); len(plan.Delete) > 0 {
		t.Error("a nil limit keeps all")
	}
}

// TestC2_CL4_ClockBackBeforeABackfilledRun: a backfill has started a run, and then the clock was
// set back to before that run. Its job is deleted once the run can be recorded, even if nothing
// else happens.
func TestC2_CL4_ClockBackBeforeABackfilledRun(t *testing.T) {
	before := hours(1).Add(-time.Second)
	s := hourly(cronjob.Spec{Suspend: ptr(true), SuccessfulJobsHistoryLimit: ptr[int32](0)}, before,
		backfilled(finished(child(hours(1)), job.ConditionComplete, before)))
	s.CronJob.Status.LastSuccessfulTime = before
	for _, jitter := range []time.Duration{50 * time.Minute, 0} { // jitter does not delay backfills
		s.Options.Jitter = jitter
		if plan := reconcile(t, s); !plan.Requeue.At.Equal(hours(1)) || plan.Requeue.Reason != cronjobreason.WaitHistory {
			t.Errorf("jitter %s: again at %s, want 1:00\n%s", jitter, plan.Requeue.At, plan.String())
		}
	}
	s.Now = hours(1)
	if plan := reconcile(t, s); !plan.Settle(cronjob.Writes{}).Status.LastScheduleTime.Equal(hours(1)) {
		t.Errorf("the run is not recorded:\n%s", plan.String())
	}
}

// TestC2_CL4_OlderRunIsGivenUp: a backfill has started a run, and the schedule could still start an
// older one, but the CronJob is suspended. Once the older run is beyond the catch-up limit or past
// its deadline, the job is deleted, even if nothing else happens.
func TestC2_CL4_OlderRunIsGivenUp(t *testing.T) {
	s := hourly(cronjob.Spec{Suspend: ptr(true), SuccessfulJobsHistoryLimit: ptr[int32](0)}, hours(3.2),
		backfilled(finished(child(hours(3)), job.ConditionComplete, hours(3.1))))
	s.CronJob.Status.LastSuccessfulTime = hours(3.1)

	for _, tc := range []struct {
		name   string
		limit  int32
		window time.Duration
		again  []time.Time
	}{
		{"limit", 2, 0, []time.Time{hours(4)}},
		{"window", 0, 90 * time.Minute, []time.Time{hours(3.5)}},
		{"both", 2, 90 * time.Minute, []time.Time{hours(3.5)}},
		{"the limit is reached later, for two older runs", 4, 0, []time.Time{hours(5), hours(6)}},
	} {
		s := in(s, cronjob.Options{CatchUp: cronjob.CatchUpAll, CatchUpLimit: tc.limit, CatchUpWindow: tc.window})
		for _, again := range tc.again {
			for _, now := range []time.Time{s.Now, again.Add(-1)} {
				s.Now = now
				plan := reconcile(t, s)
				if !plan.Requeue.At.Equal(again) || !plan.Settle(cronjob.Writes{}).Status.LastScheduleTime.IsZero() {
					t.Errorf("%s: again at %s, want %s\n%s", tc.name, plan.Requeue.At, again, plan.String())
				}
			}
			s.Now = again
		}
		if plan := reconcile(t, s); !plan.Settle(cronjob.Writes{}).Status.LastScheduleTime.Equal(hours(3)) {
			t.Errorf("%s: the run is not recorded:\n%s", tc.name, plan.String())
		}
	}
}

// The job of an unrecorded run is kept: only the job shows that the run has started.
func TestC2_CI1_HistoryKeepsWhatIsNotRecorded(t *testing.T) {
	s := hourly(cronjob.Spec{SuccessfulJobsHistoryLimit: ptr[int32](0)}, hours(1).Add(time.Minute), finished(child(hours(1)), job.ConditionComplete, hours(1)))
	plan, end := play(t, s)
	if len(plan.Delete)+len(plan.Create) > 0 || !end.Status.LastScheduleTime.Equal(hours(1)) || !end.Requeue.At.Equal(s.Now) {
		t.Fatalf("%s, again at %s, want immediately\n%s", end.Status, end.Requeue.At, plan.String())
	}
	s.CronJob.Status = end.Status
	if plan := reconcile(t, s); len(plan.Delete) != 1 {
		t.Error(plan.String())
	}
}

// CI12: a successful job is kept until the status has the time of its success.
func TestC2_CI12_HistoryKeepsAnUnrecordedSuccess(t *testing.T) {
	s := hourly(cronjob.Spec{SuccessfulJobsHistoryLimit: ptr[int32](0)}, hours(1.5), ended(1, job.ConditionComplete), ended(0, job.ConditionComplete))
	s.CronJob.Status = cronjob.Status{LastScheduleTime: hours(1), LastSuccessfulTime: hours(-1)}
	plan, end := play(t, s)
	if len(plan.Delete) != 1 || plan.Delete[0].Name != s.Children[1].Name || !end.Status.LastSuccessfulTime.Equal(s.Children[0].CompletionTime) {
		t.Fatalf("%s\n%s", end.Status, plan.String())
	}
	s.CronJob.Status, s.Children = end.Status, s.Children[:1]
	if plan := reconcile(t, s); len(plan.Delete) != 1 {
		t.Error(plan.String())
	}
}

// TestC2_HistoryKeepsWhatTheStatusNames: one round takes a finished job off the active list, and
// the next round, which follows immediately, deletes the job. The reason can be the limit or the
// age (KeepFailed). With cronjobquirk.EagerHistory the first round deletes the job.
func TestC2_HistoryKeepsWhatTheStatusNames(t *testing.T) {
	for _, tc := range []struct {
		name  string
		limit *int32
		o     cronjob.Options
		first int
	}{
		{"limit", ptr[int32](0), cronjob.Options{}, 0},
		{"age", nil, cronjob.Options{KeepFailed: time.Minute}, 0},
		{"quirk", ptr[int32](0), cronjob.Options{Quirks: cronjobquirk.SetOf(cronjobquirk.EagerHistory)}, 1},
	} {
		s := in(second("", finished(child(hours(1)), job.ConditionFailed, hours(1.1))), tc.o)
		s.Now, s.CronJob.Spec.FailedJobsHistoryLimit = hours(1.5), tc.limit

		plan, end := play(t, s)
		if len(plan.Delete) != tc.first {
			t.Errorf("%s: %s", tc.name, plan.String())
			continue
		}
		if tc.first > 0 {
			continue
		}
		if !end.Requeue.At.Equal(s.Now) {
			t.Errorf("%s: again at %s, want immediately", tc.name, end.Requeue.At)
		}

		s.CronJob.Status = end.Status
		if plan := reconcile(t, s); len(s.CronJob.Status.Active) > 0 || len(plan.Delete) != 1 {
			t.Errorf("%s: %s", tc.name, plan.String())
		}
	}
}

// A job that is already being deleted is not deleted again, neither by the history, nor because of
// its age, nor by a run that waits until the job is gone.
func TestC2_NothingIsDeletedTwice(t *testing.T) {
	s := hourly(cronjob.Spec{ConcurrencyPolicy: cronjob.Replace, FailedJobsHistoryLimit: ptr[int32](0)}, hours(3.5),
		finished(child(hours(1)), job.ConditionFailed, hours(1.5)), child(hours(2)))
	s.CronJob.Status = cronjob.Status{Active: []cronjob.Reference{ref(s.Children[1])}, LastScheduleTime: hours(2)}
	s.Options = cronjob.Options{ReplaceWhenGone: true, KeepFailed: time.Minute}
	if plan := reconcile(t, s); len(plan.Delete) != 2 {
		t.Error(plan.String())
	}
	s.Children[0].DeletionTimestamp, s.Children[1].DeletionTimestamp = hours(3), hours(3)
	if plan := reconcile(t, s); len(plan.Delete)+len(plan.Create) > 0 {
		t.Error(plan.String())
	}
}

// Two jobs with the same UID are an error. Jobs without a finish time, and jobs that are being
// deleted, do not expire (C2, KeepSuccessful).
func TestC2_OddJobsOfTheHistory(t *testing.T) {
	complete := func(n float64, end time.Time) cronjob.Child {
		return finished(child(hours(n)), job.ConditionComplete, end)
	}
	one, twin, endless, leaving := complete(2, hours(2)), complete(2, hours(2)), complete(3, time.Time{}), complete(4, hours(4))
	twin.Name, leaving.DeletionTimestamp = "twin", hours(9)
	s := hourly(cronjob.Spec{SuccessfulJobsHistoryLimit: ptr[int32](1)}, hours(9.5), one, twin, complete(3, hours(3)))
	s.CronJob.Status.LastScheduleTime, s.CronJob.Status.LastSuccessfulTime = hours(9), hours(9)
	if _, err := cronjob.Reconcile(s); len(fields(err)) != 1 {
		t.Errorf("two jobs of one UID: %v", err)
	}
	s.CronJob.Spec.SuccessfulJobsHistoryLimit, s.Options.KeepSuccessful, s.Children = nil, 1, []cronjob.Child{endless, leaving}
	if plan := reconcile(t, s); len(plan.Delete) > 0 || plan.Requeue.Reason != cronjobreason.WaitNextRun {
		t.Error(plan.String())
	}
}

// C2: a suspended CronJob has jobs of backfills whose runs are later than lastScheduleTime. The
// history deletes them, but first the latest of their runs is recorded, so that none starts again.
// With CatchUpAll a job is kept while the schedule may still start an older run.
func TestC2_BackfilledJobsOfASuspendedCronJob(t *testing.T) {
	for _, tc := range []struct {
		name    string
		catchUp cronjob.CatchUp
		runs    []float64 // started by the backfill
		last    time.Time
		left    int
	}{
		{"the latest run would start", cronjob.CatchUpLatest, []float64{2, 3, 4}, hours(4), 0},
		{"the latest run was backfilled", cronjob.CatchUpLatest, []float64{8, 9}, hours(9), 0},
		{"all are made up, and an older one is left", cronjob.CatchUpAll, []float64{2, 3, 4}, time.Time{}, 3},
		{"all are made up, and the first ones were backfilled", cronjob.CatchUpAll, []float64{1, 2, 4}, hours(2), 1},
	} {
		s := hourly(cronjob.Spec{Suspend: ptr(true), SuccessfulJobsHistoryLimit: ptr[int32](0)}, hours(9.5))
		s.Options.CatchUp, s.Options.Jitter = tc.catchUp, 40*time.Minute // jitter does not delay backfills

		for _, run := range tc.runs {
			s.Children = append(s.Children, backfilled(finished(child(hours(run)), job.ConditionComplete, hours(9))))
		}
		for range 3 {
			plan, _ := goOn(t, &s)
			for _, d := range plan.Delete {
				s.Children = slices.DeleteFunc(s.Children, func(c cronjob.Child) bool { return c.UID == d.UID })
			}
		}

		if !s.CronJob.Status.LastScheduleTime.Equal(tc.last) || len(s.Children) != tc.left {
			t.Errorf("%s: last %s, %d jobs are left", tc.name, s.CronJob.Status.LastScheduleTime, len(s.Children))
		}

		s.CronJob.Spec.Suspend = ptr(false)
		if got := created(t, reconcile(t, s)); slices.ContainsFunc(tc.runs, func(run float64) bool { return got.Equal(hours(run)) }) {
			t.Errorf("%s: the run of %s starts again", tc.name, got)
		}
	}
}

// C2, CL2: the status that lists a job is written, but the snapshot does not show that status yet.
// The job is kept until then, and another round is requested: if the job were deleted, nothing
// would remove it from the active list.
func TestC2_CL2_HistoryKeepsWhatAnUnseenStatusNames(t *testing.T) {
	s := hourly(cronjob.Spec{Suspend: ptr(true), FailedJobsHistoryLimit: ptr(int32(0))}, hours(0.5))
	s.Triggers = []cronjob.Trigger{{ID: "t"}}

	_, end := play(t, s)
	s.Memory, s.Triggers, s.Now = end.Memory, nil, hours(0.6)
	written := end.Status
	s.Children = []cronjob.Child{finished(cronjob.Child{Name: written.Active[0].Name, UID: written.Active[0].UID, StartTime: hours(0.5)}, job.ConditionFailed, hours(0.6))}

	for range 3 { // the cache shows the job, but not the status
		plan, end := play(t, s)
		if len(plan.Delete) > 0 || !waitsForNewer(&end) {
			t.Fatalf("again %v\n%s", end.Requeue, plan.String())
		}
		s.Memory, s.Now = end.Memory, s.Now.Add(time.Minute)
	}

	unseen := s
	s.CronJob.Status = written
	plan := reconcile(t, s)
	if got := reasons(plan.Events); !slices.Contains(got, "SawCompletedJob") || len(plan.Settle(cronjob.Writes{}).Status.Active) > 0 {
		t.Errorf("events %v\n%s", got, plan.String())
	}

	unseen.Now = hours(0.8) // another writer has removed the job from the status
	for retry := true; retry; {
		plan, end = play(t, unseen)
		unseen.Memory, retry = end.Memory, end.Retry
	}
	if len(plan.Delete) != 1 {
		t.Errorf("after five minutes:\n%s", plan.String())
	}
}

// C2: the job of a backfill ends before the jitter of its run has passed. The next round is after
// the jitter.
func TestC2_BackfilledJobsThatEndWithinTheirJitter(t *testing.T) {
	s := hourly(cronjob.Spec{Suspend: ptr(true), SuccessfulJobsHistoryLimit: ptr(int32(0))}, hours(1).Add(10*time.Second),
		backfilled(finished(child(hours(1)), job.ConditionComplete, hours(1).Add(5*time.Second))))
	s.CronJob.Status.LastSuccessfulTime, s.Options.Jitter = hours(1.01), 50*time.Minute
	for range 3 {
		plan, end := goOn(t, &s)
		if len(plan.Delete) > 0 {
			return
		}
		if s.Now = end.Requeue.At; s.Now.IsZero() {
			t.Fatalf("no wake-up\n%s", plan.String())
		}
	}
	t.Error("the job stays")
}

// KeepSuccessful, KeepFailed: the older of two jobs expires exactly at its time, and a round is
// requested for that time. The round that deletes it requests one for the time at which the younger
// job expires.
func TestKeepByAge_ExactlyAtItsTime(t *testing.T) {
	for how, keep := range map[job.ConditionType]cronjob.Options{
		job.ConditionComplete: {KeepSuccessful: time.Hour}, job.ConditionFailed: {KeepFailed: time.Hour},
	} {
		c := newCronJob(cronjob.Spec{Schedule: "@daily", FailedJobsHistoryLimit: ptr[int32](2)})
		c.Status.LastScheduleTime, c.Status.LastSuccessfulTime = hours(3), hours(3.5)
		s := in(snapshot(c, hours(4).Add(-1), finished(child(hours(2)), how, hours(3)), finished(child(hours(3)), how, hours(3.5))), keep)
		plan := reconcile(t, s)
		if len(plan.Delete) > 0 || !plan.Requeue.At.Equal(hours(4)) || plan.Requeue.Reason != cronjobreason.WaitHistory {
			t.Errorf("%s, a nanosecond early:\n%s", how, plan.String())
		}
		s.Now = hours(4)
		if plan := reconcile(t, s); len(plan.Delete) != 1 || plan.Delete[0].Reason != cronjobreason.DeleteExpired || !plan.Requeue.At.Equal(hours(4.5)) {
			t.Errorf("%s, at its time:\n%s", how, plan.String())
		}
	}
}

// TestC2_EventsOfTheHistory: there is an event for the result of each deletion.
func TestC2_EventsOfTheHistory(t *testing.T) {
	s := hourly(cronjob.Spec{SuccessfulJobsHistoryLimit: ptr[int32](0)}, hours(3.5),
		finished(child(hours(1)), job.ConditionComplete, hours(1.1)), finished(child(hours(2)), job.ConditionComplete, hours(2.1)))
	s.CronJob.Status.LastScheduleTime, s.CronJob.Status.LastSuccessfulTime = hours(3), hours(2.1)
	plan := reconcile(t, s)
	end := plan.Conclude(cronjob.Outcome{Writes: cronjob.Writes{Deleted: []cronjob.Effect{
		{Result: cronjobreason.ResultDone}, {Result: cronjobreason.ResultUnsuccessful, Error: "down"},
	}}})
	var got []string
	for _, e := range end.Events {
		if strings.HasSuffix(e.Reason, "Delete") {
			got = append(got, fmt.Sprint(e.Type, " ", e.Reason, ": ", e.Message))
		}
	}
	want := []string{"Normal SuccessfulDelete: Deleted job " + cronjob.Naming{}.JobName("report", hours(1)), "Warning FailedDelete: Deleted job: down"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
