package cronjob_test

import (
	"slices"
	"testing"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// With a consistent snapshot nothing waits for own writes: if the status is older than the memory,
// another client must have changed it.
func TestCI15_ConsistentWaitsForNothing(t *testing.T) {
	s := hourly(cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, hours(3.1))
	s.Memory = cronjob.Remember(cronjob.Remembered{
		CronJobUID: "cj-1", Recorded: hours(2), Behind: hours(3.09),
		Started:  []cronjob.StartedJob{{Reference: ref(child(hours(2))), Recorded: true}},
		Replaced: []cronjob.LeavingJob{{Reference: ref(child(hours(1)))}},
	})

	for _, consistent := range []bool{false, true} {
		s.Consistent = consistent
		plan, end := play(t, s)
		if starts := !created(t, plan).IsZero(); starts != consistent || waitsForNewer(&end) == consistent {
			t.Errorf("consistent %t: starts %t, again %v\n%s", consistent, starts, end.Requeue, plan.String())
		}
		if m := end.Memory.Kept(); consistent && (len(m.Started)+len(m.Replaced) > 0 || !m.Behind.IsZero()) {
			t.Errorf("the memory keeps own writes: %+v", m)
		}
	}

	s = second(cronjob.Replace, child(hours(1)))
	s.Consistent = true
	plan := reconcile(t, s)
	o := done(&plan)
	o.Deleted[0].Result = cronjobreason.ResultUnsuccessful
	if end := plan.Conclude(o); len(end.Memory.Kept().Deleted) > 0 {
		t.Errorf("the memory keeps a deletion: %+v\n%s", end.Memory.Kept(), plan.String())
	}
}

// C5: an active job that a consistent snapshot lacks is gone, so the next run needs no look-up.
func TestC5_ConsistentNeedsNoLookUp(t *testing.T) {
	running := child(hours(1))
	s := second(cronjob.Forbid)
	s.Consistent = true
	plan, end := play(t, s)
	if got := created(t, plan); !got.Equal(hours(2)) || len(plan.Verify) > 0 {
		t.Error(plan.String())
	}
	if got := reasons(end.Events); !slices.Equal(got, []string{"MissingJob", "SuccessfulCreate"}) || len(end.Status.Active) != 1 {
		t.Errorf("events %v, %s", end.Events, end.Status)
	}
	// A job that another owner has taken over exists, so it must be looked up.
	s.Children = []cronjob.Child{foreign(running)}
	if plan := reconcile(t, s); len(plan.Create) > 0 || !slices.Equal(plan.Verify, []cronjob.Reference{ref(running)}) {
		t.Error(plan.String())
	}
	// A finished job is not reported as missing.
	s.Children = []cronjob.Child{finished(running, job.ConditionComplete, hours(1.5))}
	if plan := reconcile(t, s); !slices.Equal(reasons(plan.Events), []string{"SawCompletedJob"}) {
		t.Error(plan.String())
	}
}
