package cronjob_test

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

func TestC12_CI8_Replace(t *testing.T) {
	plan, end := play(t, second(cronjob.Replace, child(hours(1))))
	if len(plan.Delete) != 1 || plan.Delete[0].Reason != cronjobreason.DeleteReplaced || len(plan.Create) != 1 {
		t.Fatal(plan.String())
	}
	if !slices.Equal(names(end.Status.Active), []string{(cronjob.Naming{}).JobName("report", hours(2))}) {
		t.Error(end.Status)
	}
	failed := cronjob.Outcome{Writes: cronjob.Writes{Deleted: []cronjob.Effect{{Result: cronjobreason.ResultUnsuccessful}}}, Settled: cronjob.Reply{Result: cronjobreason.ResultDone}}
	if plan.MayCreate(failed.Writes) {
		t.Error("a deletion failed, and the run may start")
	}
	if end := plan.Conclude(failed); !end.Retry || plan.Settle(failed.Writes).Write {
		t.Error("a failed replacement is tried again")
	}
}

// C12: Replace finds that the job to delete is gone. The run starts in the same round, and no event
// reports a deletion.
func TestC12_AReplacedJobFoundGone(t *testing.T) {
	plan := reconcile(t, second(cronjob.Replace))
	o := done(&plan)
	o.Deleted[0] = cronjob.Effect{Result: cronjobreason.ResultGone}
	if !plan.MayCreate(o.Writes) {
		t.Fatal("the run does not start")
	}
	end := plan.Conclude(o)
	if want := []string{"MissingJob", "SuccessfulCreate"}; !slices.Equal(reasons(end.Events), want) || end.Retry {
		t.Errorf("events %v, retry %t", end.Events, end.Retry)
	}
	if !slices.Equal(names(end.Status.Active), []string{(cronjob.Naming{}).JobName("report", hours(2))}) {
		t.Error(end.Status)
	}
}

func TestReplaceWhenGone(t *testing.T) {
	s := in(second(cronjob.Replace, child(hours(1))), cronjob.Options{ReplaceWhenGone: true})
	plan, end := play(t, s)
	if len(plan.Create) > 0 || len(plan.Delete) != 1 || !plan.Delete[0].Foreground {
		t.Fatal(plan.String())
	}
	s.CronJob.Status, s.Children[0].DeletionTimestamp = end.Status, s.Now
	if plan := reconcile(t, s); len(plan.Create)+len(plan.Delete) > 0 {
		t.Errorf("its pods still run: %s", plan.String())
	}
	if !end.Requeue.At.Equal(s.Now) {
		t.Errorf("a job may be gone at once, and the next round is at %s", end.Requeue.At)
	}
	s.Children = nil
	if got := created(t, reconcile(t, s)); !got.Equal(hours(2)) {
		t.Errorf("now it starts: got %s", got)
	}
	s.Memory = end.Memory // the children have shown the job, so they also show that it is gone
	if plan := reconcile(t, s); !created(t, plan).Equal(hours(2)) || len(plan.Verify) > 0 {
		t.Errorf("it is looked up:\n%s", plan.String())
	}
}

// CI15: another round is requested if the snapshots may be older than the deletion, or if nothing
// remembers the deletion.
func TestReplaceWhenGone_LooksAgain(t *testing.T) {
	replaced := cronjob.Remember(cronjob.Remembered{CronJobUID: "cj-1", Replaced: []cronjob.LeavingJob{{Reference: cronjob.Reference{Name: "x", UID: "x"}}}})

	for _, tc := range []struct {
		name       string
		quirks     cronjobquirk.Set
		consistent bool
		memory     cronjob.Memory
		want       time.Duration // after now; zero means no round
	}{
		{name: "an event tells"},
		{name: "consistent", consistent: true},
		{name: "consistent, with the quirk", consistent: true, quirks: cronjobquirk.SetOf(cronjobquirk.Stale)},
		{name: "with the quirk", quirks: cronjobquirk.SetOf(cronjobquirk.Stale), want: 30 * time.Second},
		{name: "deleted and not shown yet", memory: replaced, want: 30 * time.Second},
	} {
		leaving := child(hours(1))
		leaving.DeletionTimestamp = hours(2)
		s := in(second(cronjob.Replace, leaving), cronjob.Options{ReplaceWhenGone: true, Quirks: tc.quirks})
		s.Now, s.Consistent, s.Memory = hours(2).Add(30*time.Second), tc.consistent, tc.memory

		want := time.Time{}
		if tc.want > 0 {
			want = s.Now.Add(tc.want)
		}

		plan := reconcile(t, s)
		if b := plan.Basis(); !b.Look.Equal(want) || b.Unfinished || len(plan.Delete) > 0 {
			t.Errorf("%s: looks at %s, want %s, unfinished %t:\n%s", tc.name, b.Look, want, b.Unfinished, plan.String())
		}
	}
}

// B3: replaced jobs are deleted in the order of their runs, for any order of the children.
func TestReplaceWhenGone_OrderOfDeletions(t *testing.T) {
	s := in(hourly(cronjob.Spec{ConcurrencyPolicy: cronjob.Replace}, hours(4), child(hours(3)), child(hours(1)), child(hours(2))), cronjob.Options{ReplaceWhenGone: true})
	s.CronJob.Status.LastScheduleTime = hours(3)
	var got []string
	for _, d := range reconcile(t, s).Delete {
		got = append(got, d.Name)
	}
	if want := []string{(cronjob.Naming{}).JobName("report", hours(1)), (cronjob.Naming{}).JobName("report", hours(2)), (cronjob.Naming{}).JobName("report", hours(3))}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A job that was deleted with its pods is remembered until the children show the deletion, and only
// if a run waits until it is gone.
func TestReplaceWhenGone_WhatIsRemembered(t *testing.T) {
	running := child(hours(1))
	leaving := running
	leaving.DeletionTimestamp = hours(1.6)

	for _, tc := range []struct {
		name        string
		policy      cronjob.ConcurrencyPolicy
		whenGone    bool
		children    []cronjob.Child
		looks, kept int
	}{
		{"nothing is seen of it", cronjob.Replace, true, nil, 1, 1},
		{"it still runs", cronjob.Replace, true, []cronjob.Child{running}, 0, 1},
		{"it is under deletion", cronjob.Replace, true, []cronjob.Child{leaving}, 0, 0},
		{"it has ended", cronjob.Replace, true, []cronjob.Child{finished(running, job.ConditionComplete, hours(1.5))}, 0, 0},
		{"nothing waits until it is gone", cronjob.Replace, false, nil, 0, 0},
		{"nothing is replaced", cronjob.Allow, true, nil, 0, 0},
	} {
		s := in(hourly(cronjob.Spec{ConcurrencyPolicy: tc.policy}, hours(1.7), tc.children...), cronjob.Options{ReplaceWhenGone: tc.whenGone})
		s.CronJob.Status.LastScheduleTime = hours(1)
		s.Memory = cronjob.Remember(cronjob.Remembered{CronJobUID: "cj-1", Replaced: []cronjob.LeavingJob{{Reference: ref(running)}}})

		plan := reconcile(t, s)
		if got := len(plan.Basis().Memory.Replaced); got != tc.kept || len(plan.Verify) != tc.looks {
			t.Errorf("%s: %d kept, %d looked up, want %d and %d\n%s", tc.name, got, len(plan.Verify), tc.kept, tc.looks, plan.String())
		}
	}
}

// M9, C3: a replaced job is deleted only once, even if the children show it unchanged for minutes.
// If the job is gone, nothing waits for it, and no event reports it as unexpected.
func TestM9_ReplacedJobsThatTheCacheStillShows(t *testing.T) {
	for _, tc := range []struct {
		name   string
		result cronjobreason.Result
		quirks cronjobquirk.Set
		want   time.Time
	}{
		{"its pods end", cronjobreason.ResultDone, cronjobquirk.SetOf(), time.Time{}},
		{"it was gone already", cronjobreason.ResultGone, cronjobquirk.SetOf(), hours(2)},
		{"its pods end, and nothing is remembered", cronjobreason.ResultDone, cronjobquirk.SetOf(cronjobquirk.Stale), time.Time{}},
		{"it was gone already, and nothing is remembered", cronjobreason.ResultGone, cronjobquirk.SetOf(cronjobquirk.Stale), time.Time{}},
	} {
		s := in(second(cronjob.Replace, child(hours(1))), cronjob.Options{ReplaceWhenGone: true, Quirks: tc.quirks})
		rounds, started := 0, time.Time{}

		for range 10 {
			plan := reconcile(t, s)
			if tc.quirks.IsZero() && slices.Contains(reasons(plan.Events), "UnexpectedJob") {
				t.Errorf("%s: %v", tc.name, plan.Events)
			}

			o := done(&plan)
			for i := range o.Deleted {
				o.Deleted[i].Result = tc.result
			}
			end := plan.Conclude(o)

			s.Memory, s.CronJob.Status = end.Memory, end.Status
			if started = created(t, plan); !started.IsZero() || end.Requeue.At.After(s.Now) {
				if started.IsZero() && !waitsForNewer(&end) {
					t.Errorf("%s: nothing asks for a round", tc.name)
				}
				break
			}
			rounds++
		}

		if rounds > 2 || !started.Equal(tc.want) {
			t.Errorf("%s: %d rounds in a row, then %v starts, want %v", tc.name, rounds, started, tc.want)
		}
	}
}

// A deleted job that the children have never shown is not deleted again, and is looked up only once
// a round.
func TestReplaceWhenGone_DeletedUnseen(t *testing.T) {
	s := in(second(cronjob.Replace), cronjob.Options{ReplaceWhenGone: true})
	for i, want := range []int{1, 0, 0} {
		plan := reconcile(t, s)
		if len(plan.Delete) != want || len(plan.Verify) != 1 || len(plan.Create) > 0 {
			t.Fatalf("round %d: %s", i, plan.String())
		}
		o := found(&plan, cronjobreason.ResultDone)
		o.Settled = cronjob.Reply{Result: cronjobreason.ResultUnsuccessful} // the cache of CronJobs is late as well
		s.Memory = plan.Conclude(o).Memory
	}
}

// CI8, C3: after the deadline of the waiting run has passed, a trigger and a backfill with Forbid
// still wait until the pods of the replaced job are gone, and no event calls that job unexpected.
func TestCI8_C3_BesideThePodsOfAReplacedJob(t *testing.T) {
	s := in(second(cronjob.Replace, child(hours(1))), cronjob.Options{ReplaceWhenGone: true})
	s.CronJob.Spec.StartingDeadlineSeconds = ptr[int64](20)
	s.Triggers = []cronjob.Trigger{{ID: "t", Overlap: cronjob.Forbid}}
	s.Backfills = []cronjob.Backfill{between("b", -2, -1, "")}
	for i, passed := range []time.Duration{0, time.Second, time.Minute, time.Minute, time.Minute} {
		s.Now = s.Now.Add(passed)
		switch i {
		case 3: // the deletion is shown
			s.Children[0].DeletionTimestamp = s.Now
		case 4:
			s.Children = nil
		}
		plan, _ := goOn(t, &s)
		if slices.Contains(reasons(plan.Events), "UnexpectedJob") {
			t.Errorf("at %s: %v", s.Now, plan.Events)
		}
		if started := len(plan.Create) > 0; started != (i == 4) {
			t.Errorf("at %s: starts %t:\n%s", s.Now, started, plan.String())
		}
	}
}

// CI1: Replace, also with ReplaceWhenGone, does not delete the job of a backfill that no child
// shows yet. If the job were deleted, the schedule would start its run again.
func TestCI1_ReplaceSparesABackfillUnseen(t *testing.T) {
	unseen := ref(child(hours(3)))
	for _, whenGone := range []bool{false, true} {
		s := in(hourly(cronjob.Spec{ConcurrencyPolicy: cronjob.Replace}, hours(3.1)), cronjob.Options{ReplaceWhenGone: whenGone, CatchUp: cronjob.CatchUpAll})
		s.CronJob.Status.Active = []cronjob.Reference{unseen}
		s.Memory = cronjob.Remember(cronjob.Remembered{
			CronJobUID: "cj-1", Started: []cronjob.StartedJob{{Reference: unseen, Backfilled: true, Recorded: true}},
		})
		plan := reconcile(t, s)
		if got := created(t, plan); !got.Equal(hours(1)) || len(plan.Delete) > 0 || len(plan.Verify) != 1 {
			t.Errorf("when gone %t: starts %s:\n%s", whenGone, got, &plan)
		}
	}
}

// CI1: Replace and ReplaceWhenGone keep a job until the backfill has recorded its run, even if the
// status does not list the job. After a crash only the job would show that the run has started.
func TestBackfill_CI1_UnlistedJobIsNotedFirst(t *testing.T) {
	for _, whenGone := range []bool{false, true} {
		s := settled(cronjob.Replace, child(hours(7)))
		s.CronJob.Status.Active, s.Now = nil, hours(10)
		s.Options.ReplaceWhenGone = whenGone
		s.Backfills = []cronjob.Backfill{between("b", 6, 7, "")}
		plan, end := play(t, s)
		if len(plan.Delete) > 0 {
			t.Errorf("when gone %t: the run of 7 o'clock is not noted:\n%s", whenGone, &plan)
		}
		if len(end.Backfills) != 1 || !end.Backfills[0].IsComplete() || whenGone && !end.Requeue.At.Equal(s.Now) {
			t.Fatalf("when gone %t: %+v", whenGone, end)
		}
		s.Backfills = nil
		if plan = reconcile(t, s); whenGone != (len(plan.Delete) == 1) {
			t.Errorf("when gone %t: %s", whenGone, &plan)
		}
	}
}

// Jobs that a run replaces do not count for MaxActive. Other active jobs do.
func TestMaxActive_Replace(t *testing.T) {
	asked := backfilled(child(hours(-5)))
	for _, tc := range []struct {
		name  string
		other cronjob.Child
		limit int32
		want  time.Time
	}{{"replaced", child(hours(1)), 1, hours(2)}, {"spared", asked, 1, time.Time{}}, {"room for both", asked, 2, hours(2)}} {
		s := in(second(cronjob.Replace, tc.other), cronjob.Options{MaxActive: tc.limit})
		s.CronJob.Status.Active = []cronjob.Reference{ref(tc.other)}
		if got := created(t, reconcile(t, s)); !got.Equal(tc.want) {
			t.Errorf("%s: got %s", tc.name, got)
		}
	}
}

// C3: Replace has deleted a job, but the creation that followed has failed, or the cache is late.
// While the children show that job, no round calls it unexpected; with the quirk each round does.
func TestC3_AReplacedJobIsNotUnexpected(t *testing.T) {
	for _, tc := range []struct {
		name    string
		deleted cronjobreason.Result
		created cronjobreason.Result
		shown   bool // as being deleted
		options cronjob.Options
		want    int // events in three rounds
	}{
		{"the creation fails, a finalizer holds the job", cronjobreason.ResultDone, cronjobreason.ResultUnsuccessful, true, cronjob.Options{}, 0},
		{"the creation fails, the cache is late", cronjobreason.ResultDone, cronjobreason.ResultUnsuccessful, false, cronjob.Options{}, 0},
		{"the job was gone, the cache is late", cronjobreason.ResultGone, cronjobreason.ResultUnsuccessful, false, cronjob.Options{}, 0},
		{"the run has started, the cache is late", cronjobreason.ResultDone, cronjobreason.ResultDone, false, cronjob.Options{}, 0},
		{"no list is stored", cronjobreason.ResultDone, cronjobreason.ResultUnsuccessful, true, cronjob.Options{ActiveFromChildren: true}, 0},
		{"Kubernetes, a finalizer holds the job", cronjobreason.ResultDone, cronjobreason.ResultUnsuccessful, true, cronjob.Options{Quirks: cronjobquirk.SetOf(cronjobquirk.Stale)}, 3},
		{"Kubernetes, the cache is late", cronjobreason.ResultDone, cronjobreason.ResultUnsuccessful, false, cronjob.Options{Quirks: cronjobquirk.SetOf(cronjobquirk.Stale)}, 3},
	} {
		s := in(second(cronjob.Replace, child(hours(1))), tc.options)
		warnings := 0

		for i := range 4 {
			plan := reconcile(t, s)
			if slices.Contains(reasons(plan.Events), "UnexpectedJob") {
				warnings++
			}

			o := done(&plan)
			for i := range o.Deleted {
				o.Deleted[i].Result = tc.deleted
			}
			for i := range o.Created {
				o.Created[i].Result = tc.created
			}

			end := plan.Conclude(o)
			if i == 0 && len(plan.Delete) != 1 {
				t.Fatalf("%s: %s", tc.name, plan.String())
			}
			if tc.shown {
				s.Children[0].DeletionTimestamp = s.Now
			}
			s.Memory, s.CronJob.Status = end.Memory, end.Status
		}

		if warnings != tc.want {
			t.Errorf("%s: %d warnings, want %d", tc.name, warnings, tc.want)
		}
	}

	s := hourly(cronjob.Spec{ConcurrencyPolicy: cronjob.Replace}, hours(2), child(hours(1)))
	s.CronJob.Status.LastScheduleTime = hours(1)
	if plan := reconcile(t, s); len(plan.Unexpected) != 1 {
		t.Errorf("a job that runs and is not listed: %s", plan.String())
	}
}

// C3: a job that Replace wanted to delete was gone, and the next children do not show it any more.
// No look-up is needed.
func TestC3_AReplacedJobThatWasGone(t *testing.T) {
	s := in(second(cronjob.Replace, child(hours(1))), cronjob.Options{ReplaceWhenGone: true})
	plan := reconcile(t, s)
	o := done(&plan)
	o.Deleted[0].Result = cronjobreason.ResultGone
	end := plan.Conclude(o)
	s.Memory, s.CronJob.Status, s.Children = end.Memory, end.Status, nil
	if plan := reconcile(t, s); len(plan.Verify) > 0 {
		t.Error(plan.String())
	}
}

// C9, C12: a job that a user has started under the name of a run in the far future does not count
// as that run. It is replaced like any other job.
func TestC9_C12_ByHandUnderTheNameOfARun(t *testing.T) {
	byHand := cronjob.Child{Name: "report-1764172800", UID: "by-hand", StartTime: hours(1)}
	s := hourly(cronjob.Spec{ConcurrencyPolicy: cronjob.Replace}, hours(1.5), byHand)
	s.CronJob.Status = cronjob.Status{LastScheduleTime: hours(1), Active: []cronjob.Reference{ref(byHand)}}
	remember(t, &s)
	s.Now = hours(2)
	if plan := reconcile(t, s); len(plan.Create) != 1 || len(plan.Delete) != 1 {
		t.Error(plan.String())
	}
}
