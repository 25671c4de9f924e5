package job

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// worthlessPod is the pod that goes first, but for the fields that a test sets.
func worthlessPod(change func(*Pod)) Pod {
	p := Pod{UID: "a", Index: NoIndex(), Detail: &PodDetail{CreationTimestamp: second(9)}}
	if change != nil {
		change(&p)
	}
	return p
}

// TestJ29_Ranks compares pods that differ in one criterion; the criteria that come later
// speak for the other pod.
func TestJ29_Ranks(t *testing.T) {
	restarts := func(kind ContainerKind, counts ...int32) (out []Container) {
		for _, n := range counts {
			out = append(out, Container{Kind: kind, Restarts: n})
		}
		return out
	}
	tests := []struct {
		name        string
		first, then func(*Pod)
	}{
		{"unassigned before assigned",
			func(p *Pod) { p.Phase, p.Ready = PodRunning, true },
			func(p *Pod) { p.Assigned = true }},
		{"Pending before Unknown",
			func(p *Pod) { p.Assigned, p.Ready = true, true },
			func(p *Pod) { p.Assigned, p.Phase = true, PodUnknown }},
		{"Unknown before Running",
			func(p *Pod) { p.Phase, p.Ready = PodUnknown, true },
			func(p *Pod) { p.Phase = PodRunning }},
		{"not ready before ready",
			func(p *Pod) { p.Detail.CreationTimestamp = second(1) },
			func(p *Pod) {
				p.Ready, p.Detail.ReadyTransition = true, second(9)
				p.Detail.Containers = restarts(AppContainer, 7)
			}},
		{"ready for less time first",
			func(p *Pod) {
				p.Ready, p.Detail.ReadyTransition, p.Detail.CreationTimestamp = true, second(8), second(1)
			},
			func(p *Pod) {
				p.Ready, p.Detail.ReadyTransition = true, second(7)
				p.Detail.Containers = restarts(AppContainer, 7)
			}},
		{"ready since an unknown time first",
			func(p *Pod) { p.Ready, p.Detail.CreationTimestamp = true, second(1) },
			func(p *Pod) { p.Ready, p.Detail.ReadyTransition = true, second(9) }},
		{"a transition of pods that are not ready does not matter",
			func(p *Pod) { p.Detail.ReadyTransition, p.Detail.CreationTimestamp = second(1), second(9) },
			func(p *Pod) { p.Detail.ReadyTransition, p.Detail.CreationTimestamp = second(2), second(8) }},
		{"more restarts first",
			func(p *Pod) { p.Detail.Containers, p.Detail.CreationTimestamp = restarts(AppContainer, 2), second(1) },
			func(p *Pod) { p.Detail.Containers = restarts(AppContainer, 1) }},
		{"the greatest restart count of one container decides, not the sum",
			func(p *Pod) {
				p.Detail.Containers, p.Detail.CreationTimestamp = restarts(AppContainer, 0, 3), second(1)
			},
			func(p *Pod) { p.Detail.Containers = restarts(AppContainer, 2, 2) }},
		{"regular containers are compared before sidecars",
			func(p *Pod) { p.Detail.Containers, p.Detail.CreationTimestamp = restarts(AppContainer, 1), second(1) },
			func(p *Pod) { p.Detail.Containers = restarts(RestartableInitContainer, 9) }},
		{"more restarts of a sidecar first",
			func(p *Pod) {
				p.Detail.Containers, p.Detail.CreationTimestamp = restarts(RestartableInitContainer, 2), second(1)
			},
			func(p *Pod) { p.Detail.Containers = restarts(RestartableInitContainer, 1) }},
		{"restarts of an init container do not matter",
			func(p *Pod) {},
			func(p *Pod) { p.Detail.Containers, p.Detail.CreationTimestamp = restarts(InitContainer, 9), second(8) }},
		{"newer first",
			func(p *Pod) { p.UID = "z" },
			func(p *Pod) { p.Detail.CreationTimestamp = second(8) }},
		{"created at an unknown time first",
			func(p *Pod) { p.UID, p.Detail.CreationTimestamp = "z", time.Time{} },
			func(p *Pod) {}},
		{"the UID breaks ties (B3)",
			func(p *Pod) {},
			func(p *Pod) { p.UID = "b" }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			first, then := worthlessPod(test.first), worthlessPod(test.then)
			if a, b := byWorth(&first, &then), byWorth(&then, &first); a >= 0 || b <= 0 {
				t.Errorf("compared %d, and the other way round %d", a, b)
			}
		})
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
	kinds := rapid.SampledFrom([]ContainerKind{AppContainer, InitContainer, RestartableInitContainer})
	return Pod{
		UID:      UID(uid),
		Phase:    rapid.SampledFrom([]PodPhase{PodPending, PodUnknown, PodRunning}).Draw(t, "phase"),
		Assigned: rapid.Bool().Draw(t, "assigned"),
		Ready:    rapid.Bool().Draw(t, "ready"),
		Detail: &PodDetail{
			CreationTimestamp: at.Draw(t, "created"),
			ReadyTransition:   at.Draw(t, "transition"),
			Containers:        []Container{{Kind: kinds.Draw(t, "kind"), Restarts: rapid.Int32Range(0, 2).Draw(t, "restarts")}},
		}, Untracked: true,
	}
}

// TestJ29_MostRestarts: the greatest restart count of one container decides, not the
// sum, and the kinds of containers are compared one after the other.
func TestJ29_MostRestarts(t *testing.T) {
	containers := []Container{
		{Name: "sidecar", Kind: RestartableInitContainer, Restarts: 9},
		{Name: "a", Kind: AppContainer, Restarts: 3},
		{Name: "b", Kind: AppContainer, Restarts: 1},
	}
	if got := mostRestarts(containers, AppContainer); got != 3 {
		t.Errorf("%d restarts, want 3", got)
	}
	if got := mostRestarts(containers, RestartableInitContainer); got != 9 {
		t.Errorf("%d restarts of sidecars, want 9", got)
	}
	if got := restarts(append(containers, Container{Restarts: -5})); got != 13 {
		t.Errorf("%d restarts together, want 13: a negative count is none (J22)", got)
	}
}
