package jobmodel

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/proof/explore"
)

// TestReductionsReachTheSame: without symmetry and without partial order reduction a search visits
// more states, but reaches the same statuses and sets of live pods.
func TestReductionsReachTheSame(t *testing.T) {
	for _, name := range []string{"one-pod-late", "two-pods", "one-pod-late-crash", "success-policy"} {
		t.Run(name, func(t *testing.T) {
			scope := Small[slices.IndexFunc(Small, func(s Scope) bool { return s.Name == name })]
			states, reached := reachable(scope, 0)
			for what, option := range map[string]Option{"symmetry": NoSymmetry, "reduction": NoReduction, "both": NoSymmetry | NoReduction} {
				more, others := reachable(scope, option)
				if !maps.Equal(reached, others) {
					t.Errorf("without %s %d worlds are reached, with it %d", what, len(others), len(reached))
				}
				if more < states {
					t.Errorf("without %s %d states, with it %d", what, more, states)
				}
				t.Logf("without %s %d states, with all %d", what, more, states)
			}
		})
	}
}

// reachable returns the statuses that are reached while no round is under way, each with the
// live pods in an order that does not depend on their identity.
func reachable(scope Scope, option Option) (states int, worlds map[string]bool) {
	m, worlds := New(scope, option), map[string]bool{}
	met := map[state]bool{}
	r := explore.Breadth[state](goal{m, func(m *Model, s *state) bool {
		bare := state{status: s.status}
		for i := range s.pods {
			bare.pods[i] = pod{live: s.pods[i].live, listed: s.pods[i].listed}
		}
		if s.control[0].round == 0 && !met[bare] {
			met[bare] = true
			worlds[m.world(s)] = true
		}
		return false
	}}, explore.Options{Workers: 1})
	return r.States, worlds
}

func (m *Model) world(s *state) string {
	var pods []string
	for i := range s.pods {
		if p := &s.pods[i]; p.live != 0 {
			pods = append(pods, podText(&m.rounds.pods, m.rounds.pods.info(p.live).Pod)+string('0'+rune(p.listed)))
		}
	}
	slices.Sort(pods)
	status, err := json.Marshal(m.rounds.statuses.with(s.status, job.UncountedTerminatedPods{}))
	if err != nil {
		panic(err)
	}
	return string(status) + strings.Join(pods, "\n")
}
