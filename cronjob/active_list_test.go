package cronjob_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
)

// A reader finds unexpected jobs in the order of their names, whatever the order of
// the children (B3).
func TestC3_UnexpectedJobsInOrder(t *testing.T) {
	var children []cronjob.Child
	for _, name := range []string{"c", "a", "b"} {
		children = append(children, cronjob.Child{Name: name, UID: job.UID("u" + name)})
	}
	plan := reconcile(t, snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(0.5), children...))
	var got []string
	for _, r := range plan.Unexpected {
		got = append(got, r.Name)
	}
	if !slices.Equal(got, []string{"a", "b", "c"}) || len(plan.Events) != 3 {
		t.Error(plan.String())
	}
}

// Above some hundred comparisons a table takes the place of the search. The plan must
// be the same on both sides of the border.
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
		foreign := child(hours(2)) // the same UID on a job of another owner: the entry has no child
		foreign.Foreign = true
		children = append(children, foreign)
		for i := range n { // others that make the list longer and change nothing
			old := finished(child(hours(float64(-i-1))), job.ConditionComplete, hours(10))
			children = append(children, old)
		}
		var p cronjob.Planner
		var all []string
		for range 2 { // the table must not survive into a round without one
			s := snapshot(c, hours(100.5), children...)
			plan, err := p.Reconcile(&s)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprint(plan.Verify, plan.Settle(cronjob.Writes{}).Status.Active, reasons(plan.Events)))
			children = children[:min(len(children), 12)]
		}
		return all
	}
	short, long := plans(0), plans(100)
	if diff := cmp.Diff(short[0], long[0]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(plans(0)[1], long[1]); diff != "" {
		t.Error(diff)
	}
}

func TestC3_UnexpectedJob(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	stranger := cronjob.Child{Name: "by-hand", UID: "u"}
	plan := reconcile(t, snapshot(c, start.Add(time.Minute), stranger))
	if got := reasons(plan.Events); !slices.Equal(got, []string{"UnexpectedJob"}) || len(plan.Unexpected) != 1 {
		t.Error(plan.String())
	}
	if plan.Settle(cronjob.Writes{}).Write || len(plan.Delete) > 0 {
		t.Error("it is left alone")
	}
}

func TestC4_CI12_FinishedJobsLeave(t *testing.T) {
	run, end := start.Add(time.Hour), start.Add(90*time.Minute)
	for _, tc := range []struct {
		name   string
		quirks cronjobquirk.Set
		how    job.ConditionType
		before time.Time
		want   time.Time
	}{
		{"success moves the time forward", 0, job.ConditionComplete, start, end},
		{"and never back", 0, job.ConditionComplete, end.Add(time.Hour), end.Add(time.Hour)},
		{"failure does not move it", 0, job.ConditionFailed, start, start},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
			c.Status = cronjob.Status{Active: []cronjob.Reference{ref(child(run))}, LastScheduleTime: run, LastSuccessfulTime: tc.before}
			s := snapshot(c, end, finished(child(run), tc.how, end))
			s.Options.Quirks = tc.quirks
			plan := reconcile(t, s)
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
	run := start.Add(time.Hour)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Forbid})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(child(run))}, LastScheduleTime: run}
	s := snapshot(c, run.Add(time.Hour))
	plan := reconcile(t, s)
	if len(plan.Verify) != 1 || len(plan.Create) > 0 {
		t.Fatal(plan.String())
	}
	for _, tc := range []struct {
		result cronjob.Result
		left   int
		again  time.Time
		retry  bool
	}{
		{cronjob.ResultGone, 0, s.Now, false},
		{cronjob.ResultDone, 1, plan.Requeue.At, false},
		{cronjob.ResultUnsuccessful, 1, plan.Requeue.At, true},
	} {
		o := cronjob.Outcome{Writes: cronjob.Writes{Verified: []cronjob.Result{tc.result}}, Settled: cronjob.ResultDone}
		end := plan.Conclude(o)
		if n := len(plan.Settle(o.Writes).Status.Active); n != tc.left || !end.Requeue.At.Equal(tc.again) || end.Retry != tc.retry {
			t.Errorf("%s: %d left, again at %s, retry %t", tc.result, n, end.Requeue.At, end.Retry)
		}
	}
}

// A job that turned out to be gone brings the next round forward only where a run
// waits for it.
func TestC5_AGoneJobThatNothingWaitsFor(t *testing.T) {
	for policy, atOnce := range map[cronjob.ConcurrencyPolicy]bool{cronjob.Allow: false, cronjob.Forbid: true} {
		c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: policy})
		c.Status.LastScheduleTime = hours(1)
		c.Status.Active = []cronjob.Reference{{Kind: "Job", Namespace: "ns", Name: cronjob.JobName(c.Name, hours(1)), UID: "gone"}}
		s := snapshot(c, hours(2.5))
		plan := reconcile(t, s)
		o := cronjob.Outcome{Settled: cronjob.ResultDone}
		for range plan.Verify {
			o.Verified = append(o.Verified, cronjob.ResultGone)
		}
		for _, made := range plan.Create {
			o.Created = append(o.Created, cronjob.Effect{Result: cronjob.ResultDone, Job: cronjob.Reference{Name: made.Name, UID: "new"}})
		}
		if end := plan.Conclude(o); len(plan.Verify) != 1 || end.Requeue.At.Equal(s.Now) != atOnce {
			t.Errorf("%s: again at %v, want immediately: %v\n%s", policy, end.Requeue.At, atOnce, plan.String())
		}
	}
}

// C1, C5: a job of the active list that another owner has taken over counts as missing:
// it is looked up, and neither replaced nor reported by what the children say of it.
func TestC5_AnActiveJobThatChangedOwners(t *testing.T) {
	for _, ended := range []bool{false, true} {
		taken := child(hours(1))
		if ended {
			taken = finished(taken, job.ConditionComplete, hours(1.5))
		}
		taken.Foreign = true
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
