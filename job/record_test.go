package job

import (
	"github.com/batchplan/batchplan/job/jobreason"
	"testing"
)

// TestJ27_EndNotDeclared ends a job by its deadline and lets the deletion of its pod fail. The end
// is not declared, and the pod, which still runs, is neither counted nor given up.
func TestJ27_EndNotDeclared(t *testing.T) {
	plan := PlanOf(t, snapshotOf(t, `{"activeDeadlineSeconds": 20}`, activePod("p")))
	for _, c := range []struct {
		deletion jobreason.Result
		declared bool
	}{{jobreason.ResultUnsuccessful, false}, {jobreason.ResultNotTried, false},
		{jobreason.ResultDone, true}, {jobreason.ResultGone, true}} {
		r := plan.Record(Writes{Deleted: []Effect{{Result: c.deletion}}})
		declared := r.Status.Condition(ConditionFailureTarget).Status == ConditionTrue
		counted := len(r.Status.uncounted().Succeeded)+len(r.Status.uncounted().Failed) > 0
		if goes := len(r.Untrack) == 1; declared != c.declared || counted != c.declared || goes != c.declared {
			t.Errorf("deletion %v: declared %v, the pod is counted %v, the finalizer goes %v, want all %v", c.deletion,
				declared, counted, goes, c.declared)
		}
	}
}

// TestJ40_TheListsAreWritten: every written status has the uncounted lists, empty or not, and
// Record does not write to the status in the plan.
func TestJ40_TheListsAreWritten(t *testing.T) {
	plan := PlanOf(t, snapshotOf(t, `{}`, activePod("a")))
	recording := plan.Record(doneAll(plan).Writes)
	if !recording.Write || recording.Status.UncountedTerminatedPods == nil {
		t.Errorf("written: %v, lists %v", recording.Write, recording.Status.UncountedTerminatedPods)
	}
	if plan.basis.Facts.Status.UncountedTerminatedPods != nil {
		t.Error("the status before has got lists")
	}
	if quiet := plan.Record(Writes{Claimed: Reply{Result: jobreason.ResultDone}}); quiet.Status.Active != 1 {
		t.Errorf("status %v, want the active pod", quiet.Status)
	}
}

// TestJI24_RoomBehindAList: the lists of a plan and of a status have spare capacity. Record does
// not write to it, and neither does a caller that appends to the lists of the result.
func TestJI24_RoomBehindAList(t *testing.T) {
	uids := func() []UID { return append(make([]UID, 0, 2), "old") }
	for _, stopped := range []bool{true, false} {
		p := Plan{Untrack: append(make([]Untracking, 0, 3),
			Untracking{PodRef: PodRef{UID: "s"}, As: jobreason.CountedSucceeded},
			Untracking{PodRef: PodRef{UID: "f"}, As: jobreason.CountedFailed})}
		p.basis.Course.Stopped, p.basis.Facts.JobUID = stopped, "job-1"
		p.basis.Counts.Uncounted = UncountedTerminatedPods{Succeeded: uids(), Failed: uids()}
		r, lists := p.Record(Writes{}), &p.basis.Counts.Uncounted
		_ = append(r.Untrack, Untracking{PodRef: PodRef{UID: "mine"}})
		if p.Untrack[:3][2].UID != "" || lists.Succeeded[:2][1] != "" || lists.Failed[:2][1] != "" {
			t.Errorf("stopped %t: written to %v, %v", stopped, p.Untrack[:3], lists)
		}
	}
}

// TestJ35_AFinalizerThatIsGone: a pod that is gone counts like a pod whose finalizer was removed.
// If the finalizer stays, the UID stays in the list.
func TestJ35_AFinalizerThatIsGone(t *testing.T) {
	for result, counts := range map[jobreason.Result]bool{
		jobreason.ResultDone: true, jobreason.ResultGone: true,
		jobreason.ResultNotTried: false, jobreason.ResultUnsuccessful: false, jobreason.ResultStillTracked: false,
		jobreason.ResultRefused: false,
	} {
		for _, phase := range []PodPhase{PodSucceeded, PodFailed} {
			plan := PlanOf(t, snapshotOf(t, `{"completions": 9, "parallelism": 3}`, endedPod("a", phase)))
			r := plan.Record(Writes{Claimed: Reply{Result: jobreason.ResultDone}})
			end := r.Settle(Reply{Result: jobreason.ResultDone}, []Reply{{Result: result}})
			listed := len(end.Status.uncounted().Failed) + len(end.Status.uncounted().Succeeded)
			if got := end.Status.Failed + end.Status.Succeeded; (got == 1) != counts || (listed == 0) != counts {
				t.Errorf("%s, %s: counted %d, in the lists %d", result, phase, got, listed)
			}
		}
	}
}

// TestJI24_WithoutRoom: the lists that a round records have no spare capacity, so an append to them
// does not write to the lists of the snapshot.
func TestJI24_WithoutRoom(t *testing.T) {
	roomy := func() []UID { return append(make([]UID, 0, 4), "a") }
	for _, lists := range []*UncountedTerminatedPods{nil, {Succeeded: roomy()}, {Failed: roomy()},
		{Succeeded: roomy(), Failed: roomy()}} {
		got := withoutRoom(lists)
		Same(t, "lists", lists, got)
		if got != nil && (cap(got.Succeeded) > len(got.Succeeded) || cap(got.Failed) > len(got.Failed)) {
			t.Errorf("%v has room", got)
		}
	}
}
