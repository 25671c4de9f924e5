package job

import (
	"fmt"
	"testing"

	"github.com/batchplan/batchplan/expectations"
)

// TestM5_UIDInBothLists: a status that holds a UID in both lists is refused by the API server each
// time ("Duplicate value"). The UID keeps its first verdict, and the job continues (JI2, L1).
func TestM5_UIDInBothLists(t *testing.T) {
	for _, test := range []struct {
		name              string
		lists             UncountedTerminatedPods
		pods              []Pod
		succeeded, failed int32
		recorded          *UncountedTerminatedPods
		notes             int
	}{
		{"in both lists", UncountedTerminatedPods{Succeeded: []UID{"a"}, Failed: []UID{"a"}},
			[]Pod{endedPod("a", PodSucceeded)}, 1, 0, &UncountedTerminatedPods{Succeeded: []UID{"a"}}, 1},
		{"in both lists, and the finalizer is gone", UncountedTerminatedPods{Succeeded: []UID{"a"}, Failed: []UID{"a"}},
			nil, 1, 0, nil, 1},
		{"twice in one list", UncountedTerminatedPods{Failed: []UID{"a", "a", "b"}},
			[]Pod{endedPod("a", PodFailed), endedPod("b", PodFailed)}, 0, 2,
			&UncountedTerminatedPods{Failed: []UID{"a", "b"}}, 1},
		{"an empty UID", UncountedTerminatedPods{Succeeded: []UID{""}, Failed: []UID{"a"}},
			[]Pod{endedPod("a", PodFailed)}, 0, 1, &UncountedTerminatedPods{Failed: []UID{"a"}}, 1},
		{"failed by the list and succeeded after all", UncountedTerminatedPods{Failed: []UID{"a"}},
			[]Pod{endedPod("a", PodSucceeded)}, 0, 1, &UncountedTerminatedPods{Failed: []UID{"a"}}, 0},
	} {
		s := snapshotOf(t, `{"completions": 9, "parallelism": 0}`, test.pods...)
		s.Job.Status.UncountedTerminatedPods = &test.lists

		plan := PlanOf(t, s)
		o := doneAll(plan)
		if got := plan.Record(o.Writes).Status.UncountedTerminatedPods; !equalUncounted(test.recorded, got) {
			t.Errorf("%s: recorded %v, want %v", test.name, got, test.recorded)
		}

		final := settled(plan, o).Status
		if final.Succeeded != test.succeeded || final.Failed != test.failed ||
			!equalUncounted(final.UncountedTerminatedPods, nil) {
			t.Errorf("%s: settled %v, want succeeded=%d failed=%d", test.name, final, test.succeeded, test.failed)
		}
		if len(plan.Notes) != test.notes {
			t.Errorf("%s: notes %v, want %d", test.name, plan.Notes, test.notes)
		}
	}
}

// TestJ35_WhenUIDsAreCounted: a recorded UID moves into the counter once its pod has lost the
// finalizer, even if only the memory shows that, and never before (JI1, JI3).
func TestJ35_WhenUIDsAreCounted(t *testing.T) {
	bare := endedPod("a", PodSucceeded)
	bare.Untracked = true
	tests := []struct {
		name               string
		pods               []Pod
		recorded, inFlight bool
		first, last        int32 // status.succeeded in the first and the last status
		untracked          int
	}{
		{"recorded, with the finalizer", []Pod{endedPod("a", PodSucceeded)}, true, false, 0, 1, 1},
		{"recorded, without the finalizer", []Pod{bare}, true, false, 1, 1, 0},
		{"recorded, and gone", nil, true, false, 1, 1, 0},
		{"recorded, the removal is in flight", []Pod{endedPod("a", PodSucceeded)}, true, true, 1, 1, 0},
		{"new", []Pod{endedPod("a", PodSucceeded)}, false, false, 0, 1, 1},
		{"not recorded any more, the removal is in flight", []Pod{endedPod("a", PodSucceeded)}, false, true, 0, 0, 0},
		{"without the finalizer", []Pod{bare}, false, false, 0, 0, 0},
	}

	for name, options := range bothOptions {
		for _, test := range tests {
			t.Run(name+"/"+test.name, func(t *testing.T) {
				s := snapshotOf(t, `{"completions": 9, "parallelism": 0}`, test.pods...)
				s.Options = options
				s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{}
				if test.recorded {
					s.Job.Status.UncountedTerminatedPods.Succeeded = []UID{"a"}
				}
				if test.inFlight {
					s.Memory = Memory{JobUID: s.Job.UID, Untracking: expectations.NewUIDs("a")}
				}

				plan := PlanOf(t, s)
				first, last := plan.Record(doneAll(plan).Writes).Status, settled(plan, doneAll(plan)).Status
				if first.Succeeded != test.first || last.Succeeded != test.last || len(plan.Untrack) != test.untracked {
					t.Errorf("succeeded %d, then %d, %d finalizers; want %d, %d, %d", first.Succeeded, last.Succeeded,
						len(plan.Untrack),
						test.first, test.last, test.untracked)
				}
			})
		}
	}
}

// TestE4_EmptyUntrackedUID: a faulty store may return an empty UID, so that the memory holds one
// among the removals in flight. The empty UID must not make other pods look accounted for.
func TestE4_EmptyUntrackedUID(t *testing.T) {
	const n = 100
	s := snapshotOf(t, `{"completions": 100, "parallelism": 100}`)
	s.Memory = Memory{JobUID: "job-1", Untracking: expectations.NewUIDs("", "gone")}
	for i := range n {
		s.Pods = append(s.Pods, endedPod(fmt.Sprint("pod-", i), PodSucceeded))
	}
	plan := PlanOf(t, s)
	if len(plan.Untrack) != n {
		t.Errorf("%d of %d pods are accounted for", len(plan.Untrack), n)
	}
	if len(plan.Notes) != 1 || plan.Notes[0].Field != "memory.untracking" {
		t.Errorf("notes = %v, want one about memory.untracking", plan.Notes)
	}
	if got := plan.basis.Carried.Untracking; got.Len() != 0 {
		t.Errorf("%d removals are still awaited, though no pod shows one", got.Len())
	}
}
