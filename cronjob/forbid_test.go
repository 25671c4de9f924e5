package cronjob_test

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

func TestC11_CI8_Forbid(t *testing.T) {
	s := second(cronjob.Forbid, child(hours(1)))
	s.CronJob.Spec.StartingDeadlineSeconds = ptr[int64](600)

	plan, end := play(t, s)
	if len(plan.Create) > 0 || !slices.Equal(reasons(plan.Events), []string{"JobAlreadyActive"}) {
		t.Fatal(plan.String())
	}
	if end.Outcome.Settled.Result != cronjobreason.ResultNotTried {
		t.Error("the run must not be recorded")
	}
	if want := hours(2).Add(600 * time.Second); !plan.Requeue.At.Equal(want) || plan.Requeue.Reason != cronjobreason.WaitStartDeadline {
		t.Errorf("again at %s, want %s", plan.Requeue.At, want)
	}

	s.Children[0] = finished(s.Children[0], job.ConditionFailed, hours(2))
	s.Now = hours(2).Add(5 * time.Minute)
	if got := created(t, reconcile(t, s)); !got.Equal(hours(2)) {
		t.Errorf("later it starts: got %s", got)
	}

	s.Now = hours(2).Add(10 * time.Minute)
	if got := created(t, reconcile(t, s)); !got.IsZero() {
		t.Errorf("and then not any more: got %s", got)
	}
}

func TestSkipHeld(t *testing.T) {
	s := second(cronjob.Forbid, child(hours(1)))
	s.Options.SkipHeld = true
	_, end := play(t, s)
	s.Memory = end.Memory
	s.Children[0], s.Now = finished(s.Children[0], job.ConditionComplete, hours(2.2)), hours(2.3)
	if got := created(t, reconcile(t, s)); !got.IsZero() {
		t.Errorf("the run of %s starts late", got)
	}
	s.Now = hours(3)
	if got := created(t, reconcile(t, s)); !got.Equal(hours(3)) {
		t.Errorf("the next run starts: got %s", got)
	}
}

// SkipHeld does not give up a run if the active job is perhaps gone: the job is looked up first.
func TestSkipHeld_LooksUpFirst(t *testing.T) {
	s := second(cronjob.Forbid)
	s.Options.SkipHeld = true
	plan, end := goOn(t, &s)
	if len(plan.Create) > 0 || !end.Requeue.At.Equal(s.Now) {
		t.Fatal(plan.String())
	}
	if got := created(t, reconcile(t, s)); !got.Equal(hours(2)) {
		t.Errorf("got %s", got)
	}
}
