package job

import (
	"cmp"
	"slices"
	"testing"

	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/release"
)

// TestJ6_WhoseJobIsBeingDeleted: a job that is being deleted neither adopts nor releases; a pod
// that no longer matches still loses its finalizer, so that it can be removed.
func TestJ6_WhoseJobIsBeingDeleted(t *testing.T) {
	s := snapshotOf(t, `{}`,
		Pod{Name: "unmatched", UID: "1", Owner: jobpod.OwnedUnmatched},
		Pod{Name: "orphan", UID: "2", Owner: jobpod.Orphan, Untracked: true},
		Pod{Name: "foreign", UID: "3", Owner: jobpod.Foreign})
	for _, deleted := range []bool{false, true} {
		if deleted {
			s.Job.DeletionTimestamp = s.Now
		}
		plan := PlanOf(t, s)
		if got := len(plan.Release) == 1 && len(plan.Adopt) == 1; got == deleted {
			t.Errorf("deleted %v: claims %v", deleted, got)
		}
		if got := len(plan.Untrack) == 1 && plan.Untrack[0].Name == "unmatched"; got != deleted {
			t.Errorf("deleted %v: the finalizer goes: %v\n%s", deleted, got, plan.String())
		}
	}
}

// TestJ6_ClaimsByUID: the pods to adopt and to release are listed by UID, whatever their order in
// the snapshot.
func TestJ6_ClaimsByUID(t *testing.T) {
	of := func(uid UID, owner jobpod.Ownership) Pod {
		return Pod{Name: "p" + string(uid), UID: uid, Owner: owner, Untracked: true}
	}
	for n := range 4 {
		s := snapshotOf(t, `{"parallelism": 3}`)
		for i := range n {
			uid := UID(rune('9' - i))
			s.Pods = append(s.Pods, of(uid+"a", jobpod.Orphan), of(uid+"r", jobpod.OwnedUnmatched))
		}
		plan := PlanOf(t, s)
		for _, claims := range [][]Claim{plan.Adopt, plan.Release} {
			if sorted := slices.IsSortedFunc(claims,
				func(a, b Claim) int { return cmp.Compare(a.UID, b.UID) }); len(claims) != n || !sorted {
				t.Errorf("%d of each: %v", n, claims)
			}
		}
	}
}

// TestJ6_OrphanThatIsBeingDeleted: an orphan that is being deleted is not adopted, and is counted
// nowhere.
func TestJ6_OrphanThatIsBeingDeleted(t *testing.T) {
	for name, options := range bothOptions {
		for _, pod := range []Pod{activePod("a"), endedPod("a", PodSucceeded), endedPod("a", PodFailed)} {
			pod = orphaned(pod)
			pod.Deletion = &PodDeletion{Timestamp: second(60)}
			s := snapshotOf(t, `{}`, pod)
			s.Options = options
			plan := PlanOf(t, s)
			if status := plan.Record(doneAll(plan).Writes).Status; len(plan.Adopt)+len(plan.Untrack) > 0 ||
				len(plan.Create) != 1 ||
				*status.Terminating != 0 || status.Condition(ConditionSuccessCriteriaMet).Status == ConditionTrue {
				t.Errorf("%s, %v: %v\n%s", name, pod.Phase, status, plan.String())
			}
		}
	}
}

// TestJ6_ConditionOfAnAdoption: the adoption is conditional on the version of the orphan; the real
// controller adopts without a condition.
func TestJ6_ConditionOfAnAdoption(t *testing.T) {
	for _, test := range []struct {
		options Options
		want    string
	}{{Options{}, "7"}, {Kubernetes(release.Newest()), ""}} {
		s := snapshotOf(t, `{}`, Pod{Name: "orphan", UID: "a", Owner: jobpod.Orphan, Untracked: true,
			Detail: &PodDetail{ResourceVersion: "7"}})
		s.Options = test.options
		if plan := PlanOf(t, s); len(plan.Adopt) != 1 || plan.Adopt[0].ResourceVersion != test.want {
			t.Errorf("adopted %+v, want version %q", plan.Adopt, test.want)
		}
	}
}

// TestJ6_ASuspendedJobAdoptsFirst: a round that adopts manages no pods, so a suspended job deletes
// its own pods in the next round.
func TestJ6_ASuspendedJobAdoptsFirst(t *testing.T) {
	s := snapshotOf(t, `{"suspend": true}`, activePod("own"), orphaned(activePod("orphan")))
	s.Job.Status.Active = 1
	if plan := PlanOf(t, s); len(plan.Adopt) != 1 || len(plan.Delete) != 0 {
		t.Errorf("with an orphan: %s", plan)
	}
	s.Pods[1].Owner = jobpod.Owned
	if plan := PlanOf(t, s); len(plan.Adopt) != 0 || len(plan.Delete) != 2 {
		t.Errorf("after the adoption: %s", plan)
	}
}
