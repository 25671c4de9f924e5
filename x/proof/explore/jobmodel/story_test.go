package jobmodel

import (
	"errors"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/proof/explore"
)

// goal is a model whose field reached accepts some states. A step counts as broken if reached
// accepts the state after the step.
type goal struct {
	*Model
	reached func(*Model, *state) bool
}

func (g goal) Worker() explore.Worker[state] { return goalWorker{g.Model.Worker(), g} }

type goalWorker struct {
	explore.Worker[state]
	goal
}

func (w goalWorker) Calm(s *state) (state, bool, error) { return w.Worker.Calm(s) }

func (w goalWorker) IsPassing(s *state) bool { return w.Worker.IsPassing(s) }

func (w goalWorker) Describe(from *state, step explore.Step[state]) string {
	return w.Worker.Describe(from, step)
}

func (w goalWorker) Expand(s *state, tally *explore.Tally, step func(explore.Step[state])) {
	w.Worker.Expand(s, tally, func(next explore.Step[state]) {
		if w.reached(w.Model, &next.To) {
			next.Broken = errors.New("goal: reached")
		}
		step(next)
	})
}

// TestStory: a counterexample of the search, in which pods have no identity, becomes a story
// that leads a world to the same end.
func TestStory(t *testing.T) {
	for _, c := range []struct {
		scope, want string
		reached     func(*Model, *state) bool
		ends        func(*world.Job) bool
	}{
		{"two-pods", "round fail=", func(m *Model, s *state) bool {
			status := m.rounds.statuses.with(s.status, job.UncountedTerminatedPods{})
			return status.Finished() == job.ConditionComplete && status.Failed == 1 && s.left.Fails == 0
		}, func(w *world.Job) bool {
			return w.Job.Status.Finished() == job.ConditionComplete && w.Job.Status.Failed == 1
		}},
		{"two-pods-late", "deliver j-", func(m *Model, s *state) bool {
			return m.rounds.statuses.with(s.status, job.UncountedTerminatedPods{}).Succeeded == 2
		}, func(w *world.Job) bool { return w.Job.Status.Succeeded == 2 }},
		{"suspend", ": succeed j-", func(m *Model, s *state) bool {
			for i := range s.pods {
				changed := s.pods[i].facts&(factSucceeded|factChanged) == factSucceeded|factChanged
				if round := s.control[0].round; changed && round != 0 && m.rounds.of(round).write.verb == verbUntrackFirst {
					return true
				}
			}
			return false
		}, func(w *world.Job) bool {
			return w.Err() == nil && w.Retry && len(w.Pods) > 0 && !w.Pods[0].Untracked
		}},
	} {
		t.Run(c.scope, func(t *testing.T) {
			var m *Model
			for _, scope := range Small {
				if scope.Name == c.scope {
					m = New(scope, 0)
				}
			}

			r := explore.Breadth[state](goal{m, c.reached}, explore.Options{})
			if r.Found == nil {
				t.Fatal("the goal was not reached")
			}

			r.Found.Steps[len(r.Found.Steps)-1].Broken = nil
			story, err := m.Story(r.Found)
			must.OK(t, err)
			if !strings.Contains(story, c.want) || !strings.HasPrefix(story, "# goal: reached") {
				t.Errorf("the story has no %q:\n%s", c.want, story)
			}

			if w := playStory(t, m, story); !c.ends(w) {
				t.Errorf("%s\nafter\n%s", w.State(), story)
			}
		})
	}
}

func playStory(t *testing.T, m *Model, story string) *world.Job {
	w := world.NewJob(m.rounds.scope.Spec)
	w.Stale, w.Consistent = m.rounds.scope.Late, !m.rounds.scope.Late
	for block := range strings.SplitSeq(story, "----\n\n") {
		name, input, _ := strings.Cut(strings.TrimSpace(block), "\n")
		if name == "" || strings.HasPrefix(name, "#") || strings.HasPrefix(name, "job") {
			continue
		}
		play(t, w, command{name, input})
	}
	return w
}
