package job

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job/jobpod"
	"pgregory.net/rapid"
)

// ranked returns the pod that would be deleted first, after the given changes.
func ranked(changes ...func(*Pod)) Pod {
	p := Pod{UID: "a", Index: NoIndex(), Detail: &PodDetail{CreationTimestamp: second(9)}}
	for _, change := range changes {
		change(&p)
	}
	return p
}

// TestJ29_Ranks compares pods that differ in one criterion, while all later criteria favour the
// other pod.
func TestJ29_Ranks(t *testing.T) {
	assigned := func(p *Pod) { p.Assigned = true }
	in := func(phase PodPhase) func(*Pod) { return func(p *Pod) { p.Phase = phase } }
	ready := func(p *Pod) { p.Ready = true }
	turned := func(at int) func(*Pod) { return func(p *Pod) { p.Detail.ReadyTransition = second(at) } }
	created := func(at int) func(*Pod) { return func(p *Pod) { p.Detail.CreationTimestamp = second(at) } }
	uid := func(uid UID) func(*Pod) { return func(p *Pod) { p.UID = uid } }
	restarts := func(kind jobpod.Kind, counts ...int32) func(*Pod) {
		return func(p *Pod) {
			for _, n := range counts {
				p.Detail.Containers = append(p.Detail.Containers, jobpod.Container{Kind: kind, Restarts: n})
			}
		}
	}

	for _, test := range []struct {
		name        string
		first, then Pod
	}{
		{"unassigned before assigned", ranked(in(PodRunning), ready), ranked(assigned)},
		{"Pending before Unknown", ranked(assigned, ready), ranked(assigned, in(PodUnknown))},
		{"Unknown before Running", ranked(in(PodUnknown), ready), ranked(in(PodRunning))},
		{"not ready before ready", ranked(created(1)), ranked(ready, turned(9), restarts(jobpod.App, 7))},
		{"ready for less time first", ranked(ready, turned(8), created(1)), ranked(ready, turned(7), restarts(jobpod.App, 7))},
		{"ready since an unknown time first", ranked(ready, created(1)), ranked(ready, turned(9))},
		{"a transition of pods that are not ready does not matter", ranked(turned(1)), ranked(turned(2), created(8))},
		{"more restarts first", ranked(restarts(jobpod.App, 2), created(1)), ranked(restarts(jobpod.App, 1))},
		{"the greatest restart count of one container decides, not the sum",
			ranked(restarts(jobpod.App, 0, 3), created(1)), ranked(restarts(jobpod.App, 2, 2))},
		{"regular containers are compared before sidecars", ranked(restarts(jobpod.App, 1), created(1)), ranked(restarts(jobpod.RestartableInit, 9))},
		{"more restarts of a sidecar first", ranked(restarts(jobpod.RestartableInit, 2), created(1)), ranked(restarts(jobpod.RestartableInit, 1))},
		{"restarts of an init container do not matter", ranked(), ranked(restarts(jobpod.Init, 9), created(8))},
		{"newer first", ranked(uid("z")), ranked(created(8))},
		{"created at an unknown time first", ranked(uid("z"), func(p *Pod) { p.Detail.CreationTimestamp = time.Time{} }), ranked()},
		{"the UID breaks ties (B3)", ranked(), ranked(uid("b"))},
	} {
		if a, b := byWorth(&test.first, &test.then), byWorth(&test.then, &test.first); a >= 0 || b <= 0 {
			t.Errorf("%s: compared %d, and the other way round %d", test.name, a, b)
		}
	}
}

// TestJ29_TotalOrder: sorting by worth depends on the pods alone, not on the order in
// which they come (B3).
func TestJ29_TotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pods := make([]Pod, rapid.IntRange(2, 8).Draw(t, "pods"))
		for i := range pods {
			pods[i] = drawRankedPod(t, string(rune('a'+i)))
		}

		for i := range pods {
			for j := range pods {
				ij, ji := byWorth(&pods[i], &pods[j]), byWorth(&pods[j], &pods[i])
				if (ij == 0) != (i == j) || (ij < 0) != (ji > 0) {
					t.Fatalf("%d and %d compare as %d and %d", i, j, ij, ji)
				}
				for k := range pods {
					if ij < 0 && byWorth(&pods[j], &pods[k]) < 0 && byWorth(&pods[i], &pods[k]) >= 0 {
						t.Fatalf("%d < %d < %d, and not %d < %d", i, j, k, i, k)
					}
				}
			}
		}

		shuffled := rapid.Permutation(pods).Draw(t, "shuffled")
		compare := func(a, b Pod) int { return byWorth(&a, &b) }
		slices.SortFunc(pods, compare)
		slices.SortFunc(shuffled, compare)
		for i := range pods {
			if pods[i].UID != shuffled[i].UID {
				t.Fatalf("the order shows at %d", i)
			}
		}
	})
}

func drawRankedPod(t *rapid.T, uid string) Pod {
	at := rapid.SampledFrom([]time.Time{{}, second(1), second(2)})
	kinds := rapid.SampledFrom([]jobpod.Kind{jobpod.App, jobpod.Init, jobpod.RestartableInit})
	return Pod{
		UID:      UID(uid),
		Phase:    rapid.SampledFrom([]PodPhase{PodPending, PodUnknown, PodRunning}).Draw(t, "phase"),
		Assigned: rapid.Bool().Draw(t, "assigned"),
		Ready:    rapid.Bool().Draw(t, "ready"),
		Detail: &PodDetail{
			CreationTimestamp: at.Draw(t, "created"),
			ReadyTransition:   at.Draw(t, "transition"),
			Containers: []jobpod.Container{{Kind: kinds.Draw(t, "kind"),
				Restarts: rapid.Int32Range(0, 2).Draw(t, "restarts")}},
		}, Untracked: true,
	}
}

// TestJ29_MostRestarts: the greatest restart count of one container decides, not the
// sum, and the kinds of containers are compared one after the other.
func TestJ29_MostRestarts(t *testing.T) {
	containers := []jobpod.Container{
		{Name: "sidecar", Kind: jobpod.RestartableInit, Restarts: 9},
		{Name: "a", Kind: jobpod.App, Restarts: 3},
		{Name: "b", Kind: jobpod.App, Restarts: 1},
	}
	if got := mostRestarts(containers, jobpod.App); got != 3 {
		t.Errorf("%d restarts, want 3", got)
	}
	if got := mostRestarts(containers, jobpod.RestartableInit); got != 9 {
		t.Errorf("%d restarts of sidecars, want 9", got)
	}
	if got := restarts(append(containers, jobpod.Container{Restarts: -5})); got != 13 {
		t.Errorf("%d restarts together, want 13: a negative count is none (J22)", got)
	}
}
