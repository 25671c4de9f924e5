package cronjob_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/world"
)

// The kind stores no list of active jobs. A user deletes the running job, and the next run is due
// before the pods of that job are gone. A round that requests another one immediately makes
// progress (CL5).
func TestCL5_LeavingJobWithoutList(t *testing.T) {
	asks := map[string]func(w *world.CronJob){
		"run":     func(*world.CronJob) {},
		"trigger": func(w *world.CronJob) { w.Trigger("") },
		"backfill": func(w *world.CronJob) {
			w.Backfill(cronjob.Backfill{After: w.Now.Add(-5 * time.Hour), Overlap: cronjob.Allow}, 2)
		},
	}
	for _, policy := range []cronjob.ConcurrencyPolicy{cronjob.Allow, cronjob.Forbid, cronjob.Replace} {
		for n, options := range []cronjob.Options{
			{},
			{ReplaceWhenGone: true},
			{CatchUp: cronjob.CatchUpAll},
			{ReplaceWhenGone: true, CatchUp: cronjob.CatchUpAll, MaxActive: 2},
			{MaxActive: 1, SuccessFromChildren: true},
		} {
			for what, ask := range asks {
				for _, stale := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s, options %d, %s, stale %t", policy, n, what, stale), func(t *testing.T) {
						options.ActiveFromChildren = true
						c := cronjob.CronJob{
							Name:              "c",
							UID:               "u",
							CreationTimestamp: world.Start,
							Spec:              cronjob.Spec{Schedule: "0 * * * *", ConcurrencyPolicy: policy},
						}
						cronjob.Default(&c.Spec)
						w := world.NewCronJob(c, options)
						w.Now = world.Start.Add(time.Hour + time.Second)
						ask(w)
						restAtOnce(t, w)

						for _, name := range w.Running() {
							w.BeginRemoval(name)
						}
						w.Now = w.Now.Add(time.Hour)
						w.DeliverAll()
						w.Stale = stale // the round does not see the creations and deletions of earlier ones
						restAtOnce(t, w)

						w.Stale = false
						w.RemovePods()
						restAtOnce(t, w)
						if runs := w.Runs(); runs[len(runs)-1] != world.Start.Truncate(time.Hour).Add(2*time.Hour) {
							t.Errorf("the runs are %s, and not the one that is due", runs)
						}
						if err := w.Err(); err != nil {
							t.Error(err)
						}
					})
				}
			}
		}
	}
}

// A run has replaced a job, but the status was not written. The cache shows the replaced job and
// not the new one, a look-up finds that the replaced job is gone, and a trigger waits for room. One
// look-up is enough (CL5).
func TestCL5_ReplacedJobThatTheCacheStillShows(t *testing.T) {
	for _, policy := range []cronjob.ConcurrencyPolicy{cronjob.Replace, cronjob.Allow, cronjob.Forbid} {
		w := unlistedReplace(t, cronjob.Options{MaxActive: 1})
		w.Fault = func(write world.Write) world.Fault {
			if write.Verb == world.WriteStatus {
				return world.Fail
			}
			return world.None
		}
		_, err := w.Round()
		must.OK(t, err)

		w.Fault = nil
		w.Trigger(cronjob.Forbid)
		w.CronJob.Spec.ConcurrencyPolicy = policy
		restAtOnce(t, w)
		if running := w.Running(); len(running) != 1 {
			t.Errorf("%s: running are %s", policy, running)
		}

		for _, name := range w.Running() {
			w.Finish(name, cronjob.Complete)
		}
		w.Stale = false
		restAtOnce(t, w)
		if left := w.Memory.Kept().Deleted; len(left) > 0 || len(w.Triggers) > 0 {
			t.Errorf("%s: %d triggers wait, and %v is remembered as deleted", policy, len(w.Triggers), left)
		}
	}
}

// The cache still shows a replaced job, and the next run's name belongs to another owner. The job
// is not deleted again, and the round writes nothing, because each write would wake the controller
// (CL5).
func TestCL5_ReplacedJobBesideATakenName(t *testing.T) {
	w := unlistedReplace(t, cronjob.Options{})
	w.AddForeign(w.Schedule.Schedule.Prev(w.Now.Add(1)))
	_, err := w.Round() // deletes the job, and finds the name taken
	must.OK(t, err)

	plan := reconcile(t, w.Snapshot())
	o := done(&plan)
	o.Created[0] = cronjob.Effect{Result: cronjobreason.ResultNameTaken}
	end := plan.Conclude(o)
	if len(plan.Delete) > 0 || end.Outcome.Settled.Result != cronjobreason.ResultNotTried {
		t.Errorf("the status write is %s:\n%s", end.Outcome.Settled.Result, plan.String())
	}
}

// unlistedReplace returns a world with Replace and without a list of active jobs. The job of the
// first run is running, and the next run is due. From now on the cache shows nothing new.
func unlistedReplace(t *testing.T, o cronjob.Options) *world.CronJob {
	t.Helper()
	c := cronjob.CronJob{
		Name:              "c",
		UID:               "u",
		CreationTimestamp: world.Start,
		Spec:              cronjob.Spec{Schedule: "0 * * * *", ConcurrencyPolicy: cronjob.Replace},
	}
	cronjob.Default(&c.Spec)
	o.ActiveFromChildren = true

	w := world.NewCronJob(c, o)
	w.Now = world.Start.Add(time.Hour)
	restAtOnce(t, w)
	w.DeliverAll()

	w.Now, w.Stale = w.Now.Add(time.Hour), true
	return w
}

// restAtOnce plays rounds as long as they request another one immediately.
func restAtOnce(t *testing.T, w *world.CronJob) {
	t.Helper()
	for range 10 {
		plan, err := w.Round()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range plan.Events {
			if e.Reason == "UnexpectedJob" {
				t.Errorf("a job of the controller's own is unexpected: %s", e.Message)
			}
		}
		if !w.Retry && (w.Requeue.At.IsZero() || w.Requeue.At.After(w.Now)) {
			return
		}
	}
	t.Fatalf("ten rounds, each to be followed immediately: %+v", w.Requeue)
}

// The creation fails after Replace has deleted the last run's job. In the retry, the job that the
// controller itself deleted is not unexpected (C3, C12).
func TestC12_FailedCreationAfterReplace(t *testing.T) {
	for _, kind := range []cronjob.Options{{}, {ActiveFromChildren: true}, {ReplaceWhenGone: true}} {
		c := cronjob.CronJob{
			Name:              "c",
			UID:               "u",
			CreationTimestamp: world.Start,
			Spec:              cronjob.Spec{Schedule: "0 * * * *", ConcurrencyPolicy: cronjob.Replace},
		}
		cronjob.Default(&c.Spec)
		w := world.NewCronJob(c, kind)
		w.Now = world.Start.Add(time.Hour + time.Second)
		restAtOnce(t, w)
		old := w.Running()[0]

		w.Now = w.Now.Add(time.Hour)
		w.Fault = func(write world.Write) world.Fault {
			if write.Verb == world.Create {
				return world.Fail
			}
			return world.None
		}
		kept := w.Jobs[old]
		for range 3 {
			plan, err := w.Round()
			if err != nil {
				t.Fatal(err)
			}
			if len(plan.Unexpected) > 0 {
				t.Errorf("%+v: %s is unexpected", kind, plan.Unexpected[0].Name)
			}
			kept.DeletionTimestamp = w.Now
			w.Jobs[old] = kept // its pods still exist
		}
		w.Fault = nil
		w.RemovePods()
		restAtOnce(t, w)
		if running := w.Running(); len(running) != 1 || slices.Contains(running, old) {
			t.Errorf("%+v: running are %s", kind, running)
		}
	}
}

// With ReplaceWhenGone, a job of a backfill that is being deleted counts for MaxActive until its
// pods are gone, with and without a stored list (CI8).
func TestCI8_RoomOfALeavingBackfill(t *testing.T) {
	for _, options := range []cronjob.Options{
		{ReplaceWhenGone: true, MaxActive: 1},
		{ReplaceWhenGone: true, MaxActive: 1, ActiveFromChildren: true},
	} {
		old := leaving(backfilled(child(hours(1))))
		s := in(second(cronjob.Replace, old), options)
		s.CronJob.Status.Active = nil
		if !options.ActiveFromChildren {
			s.CronJob.Status.Active = []cronjob.Reference{ref(old)}
		}
		for _, plan := range toRest(t, s) {
			if len(plan.Create) > 0 {
				t.Errorf("%+v: %s", options, plan.String())
			}
		}
	}
}
