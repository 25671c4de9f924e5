package job

import "testing"

// TestJ27_EndNotDeclared ends a job by its deadline and lets the deletion of its pod
// fail: the end is not declared, and the pod, which runs on, is neither counted nor
// given up.
func TestJ27_EndNotDeclared(t *testing.T) {
	plan := PlanOf(t, snapshotOf(t, `{"activeDeadlineSeconds": 20}`, activePod("p")))
	for _, c := range []struct {
		deletion Result
		declared bool
	}{{ResultUnsuccessful, false}, {ResultNotTried, false}, {ResultDone, true}, {ResultGone, true}} {
		r := plan.Record(Writes{Deleted: []Effect{{Result: c.deletion}}})
		declared := r.Status.Condition(ConditionFailureTarget).Status == ConditionTrue
		counted := len(r.Status.uncounted().Succeeded)+len(r.Status.uncounted().Failed) > 0
		if goes := len(r.Untrack) == 1; declared != c.declared || counted != c.declared || goes != c.declared {
			t.Errorf("deletion %v: declared %v, the pod is counted %v, the finalizer goes %v, want all %v", c.deletion, declared, counted, goes, c.declared)
		}
	}
}

// TestJ40_TheListsAreWritten: a status that is written holds the uncounted lists,
// empty or not, and the plan does not write to the status that it was given.
func TestJ40_TheListsAreWritten(t *testing.T) {
	plan := PlanOf(t, snapshotOf(t, `{}`, activePod("a")))
	recording := plan.Record(doneAll(plan).Writes)
	if !recording.Write || recording.Status.UncountedTerminatedPods == nil {
		t.Errorf("written: %v, lists %v", recording.Write, recording.Status.UncountedTerminatedPods)
	}
	if plan.basis.Facts.Status.UncountedTerminatedPods != nil {
		t.Error("the status before has got lists")
	}
	if quiet := plan.Record(Writes{Claimed: ResultDone}); quiet.Status.Active != 1 {
		t.Errorf("status %v, want the active pod", quiet.Status)
	}
}
