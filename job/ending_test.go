package job

import (
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/release"
	"slices"
	"testing"
	"time"
)

// TestJI22_TheEndDeletesOwnPods: when the job ends, its own pods and those that it adopts are
// deleted, and no others.
func TestJI22_TheEndDeletesOwnPods(t *testing.T) {
	var pods []Pod
	for _, owner := range []jobpod.Ownership{jobpod.Owned, jobpod.Orphan, jobpod.OwnedUnmatched, jobpod.Foreign} {
		p := activePod(owner.String())
		p.Owner = owner
		pods = append(pods, p)
	}
	plan := PlanOf(t, snapshotOf(t, `{"parallelism": 9, "activeDeadlineSeconds": 1}`, pods...))
	var got []string
	for _, d := range plan.Delete {
		got = append(got, d.Name)
	}
	slices.Sort(got)
	want := []string{jobpod.Orphan.String(), jobpod.Owned.String()}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("deleted %q, want %q\n%s", got, want, plan)
	}
}

// TestJI8_NotWhilePodsRun: the end is neither declared nor reached before every pod is deleted.
func TestJI8_NotWhilePodsRun(t *testing.T) {
	s := snapshotOf(t, `{"parallelism": 2, "activeDeadlineSeconds": 1}`, activePod("a"), activePod("b"))
	plan := PlanOf(t, s)
	for failed := 1; failed <= 2; failed++ {
		o := doneAll(plan)
		for i := range failed {
			o.Deleted[i] = Effect{Result: jobreason.ResultUnsuccessful}
		}
		if got := settled(plan, o).Status; got.Finished() != "" || got.isTrue(ConditionFailureTarget) {
			t.Errorf("%d of 2 pods run on, and the job ends: %v", failed, got.Conditions)
		}
	}
	s.Pods = nil
	plan = PlanOf(t, s)
	if got := settled(plan, doneAll(plan)).Status; got.Finished() != ConditionFailed {
		t.Errorf("no pod is left, and the job goes on: %v", got.Conditions)
	}
}

// TestJI17_SuspendedEnd: a suspended job that has never started can still fail. It then gets its
// start time with the end, since an API server refuses an end without one.
func TestJI17_SuspendedEnd(t *testing.T) {
	for name, options := range bothOptions {
		for completions, starts := range map[string]bool{`"completions": 2`: true, `"completions": 0`: false} {
			s := snapshotOf(t, `{"suspend": true, "backoffLimit": 0, `+completions+`}`, endedPod("a", PodFailed))
			s.Options, s.Job.Status.StartTime = options, time.Time{}
			s.Job.Status.Conditions = []Condition{{Type: ConditionSuspended, Status: ConditionTrue}}
			plan := PlanOf(t, s)
			recorded, next := plan.Record(doneAll(plan).Writes).Status, settled(plan, doneAll(plan)).Status
			if next.Finished() == "" || next.StartTime.Equal(s.Now) != starts {
				t.Errorf("%s, %s: started %v, conditions %v", name, completions, next.StartTime, next.Conditions)
			}
			if err := CheckTransition(recorded, next, s.Job.Spec, release.Newest()); err != nil {
				t.Errorf("%s, %s: %v", name, completions, err)
			}
		}
	}
}

// TestJ27_ConditionsThatAreFalse: a condition with status False or Unknown neither ends a job nor
// declares its end. When the time has come, it is set to True, and not added a second time.
func TestJ27_ConditionsThatAreFalse(t *testing.T) {
	all := []ConditionType{ConditionSuccessCriteriaMet, ConditionFailureTarget, ConditionComplete, ConditionFailed}
	for _, end := range []struct {
		phase           PodPhase
		interim, reason ConditionType
	}{{PodSucceeded, ConditionSuccessCriteriaMet, ConditionComplete},
		{PodFailed, ConditionFailureTarget, ConditionFailed}} {
		for _, status := range []ConditionStatus{ConditionFalse, ConditionUnknown} {
			s := snapshotOf(t, `{"backoffLimit": 0}`, activePod("a"))
			for _, c := range all {
				s.Job.Status.Conditions = append(s.Job.Status.Conditions,
					Condition{Type: c, Status: status, LastTransitionTime: second(1)})
			}
			plan := PlanOf(t, s)
			if got := settled(plan, doneAll(plan)).Status; len(plan.Delete) > 0 ||
				!slices.Equal(got.Conditions, s.Job.Status.Conditions) {
				t.Errorf("%s: the job does not go on: %v\n%s", status, got.Conditions, plan)
			}

			s.Pods = []Pod{endedPod("a", end.phase)}
			plan = PlanOf(t, s)
			recorded, next := plan.Record(doneAll(plan).Writes).Status, settled(plan, doneAll(plan)).Status
			if got := recorded.Condition(end.interim); got.Status != ConditionTrue ||
				!got.LastTransitionTime.Equal(s.Now) || !got.LastProbeTime.Equal(s.Now) {
				t.Errorf("%s, %s: declared %+v", status, end.phase, got)
			}
			if got := next.Condition(end.reason); got.Status != ConditionTrue || !got.LastTransitionTime.Equal(s.Now) ||
				!got.LastProbeTime.Equal(s.Now) || len(next.Conditions) != len(all) {
				t.Errorf("%s, %s: %v", status, end.phase, next.Conditions)
			}
		}
	}
}
