package cronjob_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
)

// Unexpected jobs are sorted by name, for any order of the children (B3), and are not deleted.
func TestC3_UnexpectedJobsInOrder(t *testing.T) {
	var children []cronjob.Child
	for i, name := range []string{"c", "a", "b"} {
		children = append(children, cronjob.Child{Name: name, UID: job.UID(fmt.Sprint("u", i))})
	}
	s := hourly(cronjob.Spec{}, hours(0.5), append(children, child(hours(0.2)))...)
	s.CronJob.Status = cronjob.Status{LastScheduleTime: hours(0.2), Active: []cronjob.Reference{ref(child(hours(0.2)))}} // this job is expected
	plan := reconcile(t, s)
	if got := names(plan.Unexpected); !slices.Equal(got, []string{"a", "b", "c"}) || !slices.Equal(reasons(plan.Events), slices.Repeat([]string{"UnexpectedJob"}, 3)) {
		t.Error(plan.String())
	}
	if plan.Settle(cronjob.Writes{}).Write || len(plan.Delete) > 0 {
		t.Errorf("they are not left alone:\n%s", plan.String())
	}
}

// Above some hundred comparisons a map replaces linear searches. The plan must be the same with the
// map and without it.
func TestC4_C5_LongLists(t *testing.T) {
	plans := func(n int) []string {
		c := newCronJob(cronjob.Spec{Schedule: "@hourly", SuccessfulJobsHistoryLimit: ptr[int32](1000)})
		c.Status.LastScheduleTime = hours(100)

		var children []cronjob.Child
		for i := range 20 {
			run := child(hours(float64(i)))
			switch {
			case i < 5: // gone
			case i < 10:
				children = append(children, finished(run, job.ConditionComplete, hours(50)))
			default:
				children = append(children, run)
			}
			c.Status.Active = append(c.Status.Active, ref(run))
		}

		children = append(children, foreign(child(hours(2)))) // a foreign job with the UID of an entry: the entry has no child
		for i := range n {                                    // these only make the list longer
			children = append(children, finished(child(hours(float64(-i-1))), job.ConditionComplete, hours(10)))
		}

		var p cronjob.Planner
		var all []string
		for range 2 { // the second round must not use the map of the first
			s := snapshot(c, hours(100.5), children...)
			started := []cronjob.StartedJob{{Reference: ref(child(hours(3)))}, {Reference: ref(child(hours(15)))}, {Reference: ref(child(hours(99.5)))}}
			s.Memory = cronjob.Remember(cronjob.Remembered{CronJobUID: c.UID, Recorded: hours(100), Started: started}) // one of them is a child
			plan, err := p.Reconcile(&s)
			must.OK(t, err)
			all = append(all, fmt.Sprint(plan.Verify, plan.Settle(cronjob.Writes{}).Status.Active, reasons(plan.Events), plan.Basis().Memory.Started))
			children = children[:min(len(children), 12)]
		}
		return all
	}

	if diff := cmp.Diff(plans(0), plans(100)); diff != "" {
		t.Error(diff)
	}
}

func TestC4_CI12_FinishedJobsLeave(t *testing.T) {
	for _, tc := range []struct {
		name         string
		how          job.ConditionType
		before, want time.Time
	}{
		{"success moves the time forward", job.ConditionComplete, start, hours(1.5)},
		{"and never back", job.ConditionComplete, hours(2.5), hours(2.5)},
		{"failure does not move it", job.ConditionFailed, start, start},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := second("", finished(child(hours(1)), tc.how, hours(1.5)))
			s.CronJob.Status.LastSuccessfulTime, s.Now = tc.before, hours(1.6)
			s.Children[0].FinishTime = hours(1.6) // the time of the condition
			plan := reconcile(t, s)

			two := second("", finished(child(hours(1)), tc.how, hours(1.5)), child(hours(0.5)))
			two.CronJob.Status.Active = append(two.CronJob.Status.Active, ref(two.Children[1]))
			var again cronjob.Planner // with the buffers of a round that keeps a job active
			for _, s := range []cronjob.Snapshot{two, s} {
				reused, err := again.Reconcile(&s)
				must.OK(t, err)
				if got := reused.Basis().Status.Active; len(got) == 0 && got != nil {
					t.Errorf("an empty list with room: %v", got)
				}
			}

			status := plan.Settle(cronjob.Writes{}).Status
			if len(status.Active) > 0 || !status.LastSuccessfulTime.Equal(tc.want) {
				t.Error(status)
			}
			if got := reasons(plan.Events); !slices.Equal(got, []string{"SawCompletedJob"}) {
				t.Error(got)
			}
		})
	}
}

func TestC5_CI5_MissingJobsAreLookedUp(t *testing.T) {
	s := second(cronjob.Forbid)
	plan := reconcile(t, s)
	if len(plan.Verify) != 1 || len(plan.Create) > 0 {
		t.Fatal(plan.String())
	}

	for _, tc := range []struct {
		result cronjobreason.Result
		left   int
		again  time.Time
		retry  bool
	}{
		{cronjobreason.ResultGone, 0, s.Now, false},
		{cronjobreason.ResultDone, 1, plan.Requeue.At, false},
		{cronjobreason.ResultUnsuccessful, 1, plan.Requeue.At, true},
	} {
		end := plan.Conclude(found(&plan, tc.result))
		if n := len(end.Status.Active); n != tc.left || !end.Requeue.At.Equal(tc.again) || end.Retry != tc.retry {
			t.Errorf("%s: %d left, again at %s, retry %t", tc.result, n, end.Requeue.At, end.Retry)
		}
		if got := reasons(plan.Events); !slices.Equal(got, []string{"JobAlreadyActive"}) {
			t.Errorf("%s: the conclusion changes the plan: %v", tc.result, got)
		}
	}
}

// A job that turned out to be gone does not cause an earlier next round if no run waits for it.
func TestC5_AGoneJobThatNothingWaitsFor(t *testing.T) {
	s := second(cronjob.Allow)
	if plan, end := play(t, s); len(plan.Verify) != 1 || end.Requeue.At.Equal(s.Now) {
		t.Errorf("again at %v\n%s", end.Requeue.At, plan.String())
	}
}

// C1, C5: an active job that another owner has taken over counts as missing: it is looked up, and
// neither replaced nor reported, even if its child has finished.
func TestC5_AnActiveJobThatChangedOwners(t *testing.T) {
	for _, taken := range []cronjob.Child{child(hours(1)), finished(child(hours(1)), job.ConditionComplete, hours(1.5))} {
		s := second("", foreign(taken))
		s.Now = hours(1.8)
		plan := reconcile(t, s)
		if !slices.Equal(plan.Verify, []cronjob.Reference{ref(taken)}) || len(plan.Events)+len(plan.Delete) > 0 {
			t.Errorf("finished %q:\n%s", taken.Finished, plan.String())
		}
		if status := plan.Basis().Status; len(status.Active) != 1 || !status.LastSuccessfulTime.IsZero() {
			t.Errorf("finished %q: %s", taken.Finished, status)
		}
	}
}
