package job

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// TestJ27_EndNotDeclared ends a job by its deadline and lets the deletion of its pod
// fail: the end is not declared, and the pod, which runs on, is neither counted nor
// given up.
func TestJ27_EndNotDeclared(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	spec := Spec{ActiveDeadlineSeconds: value.To[int64](60)}
	Default(&spec)
	plan, err := Reconcile(Snapshot{
		Job:  Job{Name: "j", UID: "job-1", Spec: spec, Status: Status{StartTime: now.Add(-time.Hour)}},
		Pods: []Pod{{Name: "p", UID: "uid-1", Phase: PodRunning}},
		Now:  now,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		deletion Result
		declared bool
	}{{ResultUnsuccessful, false}, {ResultNotTried, false}, {ResultDone, true}, {ResultGone, true}} {
		r := plan.Record(Writes{Deleted: []Effect{{Result: c.deletion}}})
		if got := r.Status.Condition(ConditionFailureTarget).Status == ConditionTrue; got != c.declared {
			t.Errorf("deletion %v: declared %v, want %v", c.deletion, got, c.declared)
		}
		if got := len(r.Status.uncounted().Succeeded)+len(r.Status.uncounted().Failed) > 0; got != c.declared {
			t.Errorf("deletion %v: the pod is counted: %v, want %v", c.deletion, got, c.declared)
		}
		if got := len(r.Untrack) == 1; got != c.declared {
			t.Errorf("deletion %v: the finalizer goes: %v, want %v", c.deletion, got, c.declared)
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
