package cronjob_test

import (
	"slices"
	"testing"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// TestCL4_CatchUpAllPassesOn: three runs were missed, and the oldest cannot start. The
// round asks for the next one at once, and that starts the run behind it.
func TestCL4_CatchUpAllPassesOn(t *testing.T) {
	oldest := hours(1)
	foreign := child(oldest)
	foreign.Owner = cronjob.Foreign
	backfilled := finished(child(oldest), job.Complete, hours(1.5))
	backfilled.Backfilled = true
	running := child(oldest)
	running.Backfilled = true
	for _, tc := range []struct {
		name     string
		children []cronjob.Child
		status   cronjob.Status
		outcome  cronjob.Outcome
	}{
		{"another's job has its name", []cronjob.Child{foreign}, cronjob.Status{}, cronjob.Outcome{}},
		{"another's job has its name, and nobody has seen it", nil, cronjob.Status{},
			cronjob.Outcome{Writes: cronjob.Writes{Created: []cronjob.Effect{{Result: cronjob.NameTaken}}}}},
		{"a backfill has run it", []cronjob.Child{backfilled}, cronjob.Status{}, cronjob.Outcome{}},
		{"a backfill is running it", []cronjob.Child{running}, cronjob.Status{Active: []cronjob.Reference{ref(running)}}, cronjob.Outcome{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
			c.Status = tc.status
			s := snapshot(c, hours(3.5), tc.children...)
			s.Options.CatchUp = cronjob.CatchUpAll
			plan := reconcile(t, s)
			tc.outcome.Settled = cronjob.Done
			end := plan.Conclude(tc.outcome)
			if !end.Requeue.At.Equal(s.Now) {
				t.Fatalf("again at %s, want at once:\n%s", end.Requeue.At, plan.String())
			}
			s.CronJob.Status, s.Memory = plan.Settle(tc.outcome.Writes).Status, end.Memory
			if got := created(t, reconcile(t, s)); !got.Equal(hours(2)) {
				t.Errorf("got %s, want the run of 2:00", got)
			}
		})
	}
}

// The last of the runs to make up has nothing behind it: the next run of the schedule
// is soon enough, and there is no hot loop.
func TestCL4_NothingToPassOnTo(t *testing.T) {
	foreign := child(hours(1))
	foreign.Owner = cronjob.Foreign
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1.5), foreign)
	s.Options.CatchUp = cronjob.CatchUpAll
	for range 2 {
		plan := reconcile(t, s)
		end := plan.Conclude(cronjob.Outcome{})
		if at := end.Requeue.At; at.Before(hours(2)) || len(plan.Create) > 0 {
			t.Errorf("again at %s:\n%s", at, plan.String())
		}
		s.Memory = end.Memory
	}
}

// What a run to make up waits for is not a stall: a status that cannot be written is
// retried, not planned again at once.
func TestCL4_PassingOnNeedsTheStatus(t *testing.T) {
	done := finished(child(hours(1)), job.Failed, hours(1.5))
	done.Backfilled = true
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(3.5), done)
	s.Options.CatchUp = cronjob.CatchUpAll
	plan := reconcile(t, s)
	end := plan.Conclude(cronjob.Outcome{Settled: cronjob.Unsuccessful})
	if !end.Retry || end.Requeue.At.Equal(s.Now) {
		t.Errorf("retry %t, again at %s", end.Retry, end.Requeue.At)
	}
	if !slices.Equal(reasons(end.Events), nil) {
		t.Error(end.Events)
	}
}
