package cronjob_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// A reader finds unexpected jobs in the order of their names, whatever the order of
// the children (B3).
func TestC3_UnexpectedJobsInOrder(t *testing.T) {
	var children []cronjob.Child
	for _, name := range []string{"c", "a", "b"} {
		children = append(children, cronjob.Child{Name: name, UID: "u" + name})
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
				children = append(children, finished(run, job.Complete, hours(50)))
			default:
				children = append(children, run)
			}
			c.Status.Active = append(c.Status.Active, ref(run))
		}
		foreign := child(hours(2)) // the same UID on somebody else's job: the entry has no child
		foreign.Owner = cronjob.Foreign
		children = append(children, foreign)
		for i := range n { // others that make the list longer and change nothing
			old := finished(child(hours(float64(-i-1))), job.Complete, hours(10))
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

// C10, CI1: the active list names the job of the due run, the children do not hold it.
func TestC10_NamedByTheActiveListAlone(t *testing.T) {
	run := hours(1)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	c.Status.Active = []cronjob.Reference{ref(child(run))}
	s := snapshot(c, hours(1.5))
	plan := reconcile(t, s)
	if got := plan.Settle(done(&plan).Writes).Status; len(plan.Create) > 0 || !got.LastScheduleTime.Equal(run) || len(got.Active) > 0 {
		t.Errorf("it has started: %s", plan.String())
	}
	plan = reconcile(t, kubernetes(s))
	if got := plan.Settle(done(&plan).Writes).Status; len(plan.Create) > 0 || !got.LastScheduleTime.IsZero() {
		t.Errorf("the reference does not record it: %s", plan.String())
	}
}

// C14: a job of ours that has the name of the run, but not its annotation.
func TestC14_FoundByName(t *testing.T) {
	run := hours(1)
	for _, ended := range []bool{false, true} {
		found := child(run)
		found.ScheduledTime = start.AddDate(-1, 0, 0)
		if ended {
			found = finished(found, job.Failed, hours(1.2))
		}
		plan := reconcile(t, snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1.5), found))
		status := plan.Settle(cronjob.Writes{}).Status
		if len(plan.Create) > 0 || !status.LastScheduleTime.Equal(run) || len(status.Active) == 1 == ended {
			t.Errorf("ended %t: %s", ended, plan.String())
		}
	}
}

// C14: the reference fails on a job that exists, whosever it is.
func TestC14_SlipBlindCreate(t *testing.T) {
	run := hours(1)
	for _, result := range []cronjob.Result{cronjob.AlreadyExists, cronjob.NameTaken, cronjob.Refused} {
		o := cronjob.Outcome{Writes: cronjob.Writes{Created: []cronjob.Effect{{Result: result, Job: cronjob.Reference{UID: "u"}}}}}
		s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), run)
		plan := reconcile(t, s)
		if wrote := plan.Settle(o.Writes).Write; wrote != (result == cronjob.AlreadyExists) || plan.Conclude(o).Retry && !wrote {
			t.Errorf("%s: wrote %t, %+v", result, wrote, plan.Conclude(o))
		}
		plan = reconcile(t, kubernetes(s))
		if plan.Settle(o.Writes).Write || !plan.Conclude(o).Retry {
			t.Errorf("%s, with the quirk: %+v", result, plan.Conclude(o))
		}
	}
}

// C2: jobs without a start time are forgotten last; C2, KeepSuccessful: those without
// an end, and those that are being deleted, do not expire.
func TestC2_OddJobsOfTheHistory(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", SuccessfulJobsHistoryLimit: ptr[int32](1)})
	c.Status.LastScheduleTime, c.Status.LastSuccessfulTime = hours(9), hours(9)
	neverStarted := finished(child(hours(1)), job.Complete, hours(1))
	neverStarted.StartTime = time.Time{}
	second := finished(child(hours(2)), job.Complete, hours(2))
	for _, children := range [][]cronjob.Child{{neverStarted, second}, {second, neverStarted}} {
		plan := reconcile(t, snapshot(c, hours(9.5), children...))
		if len(plan.Delete) != 1 || plan.Delete[0].Name != second.Name {
			t.Error(plan.String())
		}
	}

	twin := second
	twin.Name = "twin"
	if _, err := cronjob.Reconcile(snapshot(c, hours(9.5), second, twin, finished(child(hours(3)), job.Complete, hours(3)))); len(fields(err)) != 1 {
		t.Errorf("two jobs of one UID: %v", err)
	}

	c.Spec.SuccessfulJobsHistoryLimit = nil
	endless, leaving := finished(child(hours(3)), job.Complete, time.Time{}), finished(child(hours(4)), job.Complete, hours(4))
	leaving.DeletionTimestamp = hours(9)
	s := snapshot(c, hours(9.5), endless, leaving)
	s.Options.KeepSuccessful = 1
	if plan := reconcile(t, s); len(plan.Delete) > 0 || plan.Requeue.Reason != cronjob.WaitNextRun {
		t.Error(plan.String())
	}
}
