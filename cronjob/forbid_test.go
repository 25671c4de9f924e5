package cronjob_test

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

func TestC11_CI8_Forbid(t *testing.T) {
	first, second := start.Add(time.Hour), start.Add(2*time.Hour)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Forbid, StartingDeadlineSeconds: ptr[int64](600)})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(child(first))}, LastScheduleTime: first}
	s := snapshot(c, second, child(first))
	plan := reconcile(t, s)
	if len(plan.Create) > 0 || !slices.Equal(reasons(plan.Events), []string{"JobAlreadyActive"}) {
		t.Fatal(plan.String())
	}
	if plan.Settle(done(&plan).Writes).Write {
		t.Error("the run must not be recorded")
	}
	if want := second.Add(600 * time.Second); !plan.Requeue.At.Equal(want) || plan.Requeue.Reason != cronjob.WaitStartDeadline {
		t.Errorf("again at %s, want %s", plan.Requeue.At, want)
	}
	s.Children[0] = finished(s.Children[0], job.ConditionFailed, second)
	s.Now = second.Add(5 * time.Minute)
	if got := created(t, reconcile(t, s)); !got.Equal(second) {
		t.Errorf("later it starts: got %s", got)
	}
	s.Now = second.Add(10 * time.Minute)
	if got := created(t, reconcile(t, s)); !got.IsZero() {
		t.Errorf("and then not any more: got %s", got)
	}
}

func TestSkipHeld(t *testing.T) {
	first := child(hours(1))
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Forbid})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(first)}, LastScheduleTime: hours(1)}
	s := snapshot(c, hours(2), first)
	s.Options.SkipHeld = true
	plan := reconcile(t, s)
	s.Memory = plan.Conclude(done(&plan)).Memory
	s.Children[0], s.Now = finished(first, job.ConditionComplete, hours(2.2)), hours(2.3)
	if got := created(t, reconcile(t, s)); !got.IsZero() {
		t.Errorf("the run of %s starts late", got)
	}
	s.Now = hours(3)
	if got := created(t, reconcile(t, s)); !got.Equal(hours(3)) {
		t.Errorf("the next run starts: got %s", got)
	}
}

// SkipHeld gives no run up for a job that is perhaps gone: a look-up comes first.
func TestSkipHeld_LooksUpFirst(t *testing.T) {
	gone := child(hours(1))
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Forbid})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(gone)}, LastScheduleTime: hours(1)}
	s := snapshot(c, hours(2))
	s.Options.SkipHeld = true
	plan := reconcile(t, s)
	o := cronjob.Outcome{Writes: cronjob.Writes{Verified: []cronjob.Result{cronjob.ResultGone}}, Settled: cronjob.ResultDone}
	end := plan.Conclude(o)
	if len(plan.Create) > 0 || !end.Requeue.At.Equal(s.Now) {
		t.Fatal(plan.String())
	}
	s.CronJob.Status, s.Memory = plan.Settle(o.Writes).Status, end.Memory
	if got := created(t, reconcile(t, s)); !got.Equal(hours(2)) {
		t.Errorf("got %s", got)
	}
}
