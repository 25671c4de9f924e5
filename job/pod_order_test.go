package job

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestJI24_SeveralOfEachKind: with several pods of each kind, their order in the snapshot does not
// affect the plan.
func TestJI24_SeveralOfEachKind(t *testing.T) {
	var pods []Pod
	for _, owner := range []jobpod.Ownership{jobpod.Owned, jobpod.Orphan, jobpod.OwnedUnmatched, jobpod.Foreign} {
		for _, phase := range []PodPhase{PodRunning, PodSucceeded, PodFailed} {
			for n := range int32(4) {
				p := ofIndex(activePod(fmt.Sprintf("%s-%s-%d", owner, phase, n)), n/2)
				p.Owner, p.Phase = owner, phase
				if n%2 == 1 {
					p.Deletion = &PodDeletion{Timestamp: second(40)}
				}
				pods = append(pods, p)
			}
		}
	}

	text := func(p *Plan) string {
		lists, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return p.String() + string(lists)
	}

	specs := []string{`{"parallelism": 2}`,
		`{"completionMode": "Indexed", "completions": 9, "parallelism": 2, "backoffLimitPerIndex": 1}`,
		`{"activeDeadlineSeconds": 1}`}
	rapid.Check(t, func(rt *rapid.T) {
		s := snapshotOf(t, rapid.SampledFrom(specs).Draw(rt, "spec"), pods...)
		want := text(PlanOf(t, s))
		s.Pods = rapid.Permutation(pods).Draw(rt, "pods")
		if diff := cmp.Diff(want, text(PlanOf(t, s))); diff != "" {
			rt.Fatalf("(-in order +permuted):\n%s", diff)
		}
	})
}
