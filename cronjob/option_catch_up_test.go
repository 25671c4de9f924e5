package cronjob_test

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// TestCL4_CatchUpAllPassesOn: three runs were missed, and the oldest cannot start. The round
// requests the next one immediately, and that starts the second run.
func TestCL4_CatchUpAllPassesOn(t *testing.T) {
	running := backfilled(child(hours(1)))
	for _, tc := range []struct {
		name     string
		children []cronjob.Child
		status   cronjob.Status
		outcome  cronjob.Outcome
	}{
		{"another's job has its name", []cronjob.Child{foreign(child(hours(1)))}, cronjob.Status{}, cronjob.Outcome{}},
		{"another's job has its name, and nobody has seen it", nil, cronjob.Status{}, creation(cronjobreason.ResultNameTaken)},
		{"a backfill has run it", []cronjob.Child{finished(running, job.ConditionComplete, hours(1.5))}, cronjob.Status{}, cronjob.Outcome{}},
		{"a backfill is running it", []cronjob.Child{running}, cronjob.Status{Active: []cronjob.Reference{ref(running)}}, cronjob.Outcome{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := hourly(cronjob.Spec{}, hours(3.5), tc.children...)
			s.CronJob.Status, s.Options.CatchUp = tc.status, cronjob.CatchUpAll

			plan := reconcile(t, s)
			tc.outcome.Settled = cronjob.Reply{Result: cronjobreason.ResultDone}
			end := plan.Conclude(tc.outcome)
			if !end.Requeue.At.Equal(s.Now) {
				t.Fatalf("again at %s, want immediately:\n%s", end.Requeue.At, plan.String())
			}

			s.CronJob.Status, s.Memory = end.Status, end.Memory
			if got := created(t, reconcile(t, s)); !got.Equal(hours(2)) {
				t.Errorf("got %s, want the run of 2:00", got)
			}
		})
	}
}

// CatchUpAll: the job name of the only missed run is taken, and no later run is due. The next round
// is at the next run of the schedule, so there is no hot loop.
func TestCL4_NothingToPassOnTo(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(1.5), foreign(child(hours(1))))
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

// If the status cannot be written, the write is retried before the next missed run starts.
func TestCL4_PassingOnNeedsTheStatus(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(3.5), backfilled(finished(child(hours(1)), job.ConditionFailed, hours(1.5))))
	s.Options.CatchUp = cronjob.CatchUpAll
	if _, end := playUnwritten(t, s); !end.Retry || end.Requeue.At.Equal(s.Now) || len(end.Events) > 0 {
		t.Errorf("retry %t, again at %s, events %v", end.Retry, end.Requeue.At, end.Events)
	}
}

func TestCatchUp(t *testing.T) {
	for _, tc := range []struct {
		name     string
		options  cronjob.Options
		policy   cronjob.ConcurrencyPolicy
		now      float64
		want     []float64
		deadline *int64
	}{
		{"the latest by default", cronjob.Options{}, "", 5.5, []float64{5}, nil},
		{"none, too late", cronjob.Options{CatchUp: cronjob.CatchUpNone}, "", 5.5, nil, nil},
		{"none, in time", cronjob.Options{CatchUp: cronjob.CatchUpNone}, "", 5.001, []float64{5}, nil},
		{"none, a wide window", cronjob.Options{CatchUp: cronjob.CatchUpNone, CatchUpWindow: time.Hour}, "", 5.5, []float64{5}, nil},
		{"all, the oldest first", cronjob.Options{CatchUp: cronjob.CatchUpAll}, "", 5.5, []float64{1, 2, 3, 4, 5}, nil},
		{"all within a window", cronjob.Options{CatchUp: cronjob.CatchUpAll, CatchUpWindow: 3 * time.Hour}, "", 5.5, []float64{3, 4, 5}, nil},
		{"all up to a limit", cronjob.Options{CatchUp: cronjob.CatchUpAll, CatchUpLimit: 2}, "", 5.5, []float64{4, 5}, nil},
		{"all within the deadline", cronjob.Options{CatchUp: cronjob.CatchUpAll}, "", 5.5, []float64{4, 5}, ptr[int64](7200)},
		{"all, in line behind the first", cronjob.Options{CatchUp: cronjob.CatchUpAll}, cronjob.Forbid, 5.5, []float64{1}, nil},
		{"at most two at a time", cronjob.Options{CatchUp: cronjob.CatchUpAll, MaxActive: 2}, "", 5.5, []float64{1, 2}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: tc.policy, StartingDeadlineSeconds: tc.deadline})
			s := snapshot(c, hours(tc.now))
			s.Options = tc.options

			if got := starts(t, s, 8); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// starts plans n rounds while the clock stands still. All writes succeed, and no job ends. It
// returns the hours of the runs that start.
func starts(t *testing.T, s cronjob.Snapshot, n int) []float64 {
	t.Helper()
	var all []float64
	for range n {
		plan, end := goOn(t, &s)
		for _, c := range plan.Create {
			all = append(all, c.ScheduledTime.Sub(start).Hours())
			s.Children = append(s.Children, child(c.ScheduledTime))
		}
		if end.Requeue.At.Equal(s.Now) && len(plan.Create) == 0 {
			t.Fatal("a hot loop")
		}
	}
	return all
}
