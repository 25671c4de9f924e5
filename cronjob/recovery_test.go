package cronjob_test

import (
	"slices"
	"testing"

	"github.com/batchplan/batchplan/cronjob"
)

// CI3: an annotation alone does not make a job the job of a run, because a user may have copied it.
// The name must match too.
func TestCI3_AnnotationWithoutTheName(t *testing.T) {
	copied := child(hours(1))
	copied.Name = "report-copy"
	plan := reconcile(t, hourly(cronjob.Spec{}, hours(1.5), copied))
	if got := created(t, plan); !got.Equal(hours(1)) || len(plan.Unexpected) != 1 || len(plan.Basis().Status.Active) > 0 {
		t.Error(plan.String())
	}
}

// CI3: of two runs that were not recorded because of a crash, the later one is recorded, for any
// order of the children. Both jobs are active.
func TestCI3_TheLatestOfTwoUnrecordedRuns(t *testing.T) {
	a, b := child(hours(1)), child(hours(2))
	for _, children := range [][]cronjob.Child{{a, b}, {b, a}} {
		// The CronJob is suspended, so that nothing else handles the due run.
		plan := reconcile(t, hourly(cronjob.Spec{Suspend: ptr(true)}, hours(2.5), children...))
		status := plan.Settle(cronjob.Writes{}).Status
		if !status.LastScheduleTime.Equal(hours(2)) || !slices.Equal(status.Active, []cronjob.Reference{ref(a), ref(b)}) || len(plan.Create) > 0 {
			t.Error(plan.String())
		}
	}
}

// This is the round after a crash between the creation and the status write (M11).
func TestC14_CI3_FoundAmongTheChildren(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(1), child(hours(1)))
	plan := reconcile(t, s)
	status := plan.Settle(cronjob.Writes{}).Status
	if len(plan.Create)+len(plan.Events) > 0 || len(status.Active) != 1 || !status.LastScheduleTime.Equal(hours(1)) {
		t.Error(plan.String())
	}
	if plan := reconcile(t, kubernetes(s)); len(plan.Create) != 1 || len(plan.Unexpected) != 1 {
		t.Errorf("the reference tries to create: %s", plan.String())
	}
	s.Children[0].Foreign = true
	plan = reconcile(t, s)
	if len(plan.Create) > 0 || plan.Settle(cronjob.Writes{}).Write || plan.Requeue.At.IsZero() {
		t.Errorf("another's job: %s", plan.String())
	}
}
