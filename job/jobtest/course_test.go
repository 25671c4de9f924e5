package jobtest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/kittest"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobtest"
)

// TestSteps: a kit prints the steps of a life in the language of stories, scripts and the page. The
// tests of these three paste the printed steps, and reach the same end.
func TestSteps(t *testing.T) {
	kittest.PlayUntilFailure(t, 1)
	story := kittest.Story(t, func(tb testing.TB) {
		jobtest.TestBackend(tb, func(env *jobtest.Env) jobtest.Subject {
			s := newStore(env)
			start := jobtest.Loop(env, s.Look)
			return jobtest.Subject{Store: s, Start: func(forget bool) jobtest.Program {
				return breaksAtTheEnd(s, start(forget))
			}}
		})
	})

	kittest.CheckSteps(t, story, "../../internal/line/testdata/steps.txt", *update)
}

// breaksAtTheEnd makes a program fail once a job with failures has succeeded.
func breaksAtTheEnd(s *store, round jobtest.Program) jobtest.Program {
	return breaksIf(round, func() bool {
		j, err := s.Job()
		return err == nil && j.Status.Finished() == job.ConditionComplete && j.Status.Failed > 1
	})
}

// TestSteps_None: a life has no steps if something happens that stories, scripts and the page cannot
// repeat, or that they do otherwise.
func TestSteps_None(t *testing.T) {
	kittest.PlayUntilFailure(t, 1)
	for _, what := range []string{"", "limits", "eviction", "orphan", "new labels", "purge"} {
		story := kittest.Story(t, func(tb testing.TB) {
			jobtest.TestBackend(tb, func(env *jobtest.Env) jobtest.Subject {
				s := &noting{tagged: newTagged(env, none)}
				subject := jobtest.Subject{Store: struct {
					jobtest.Store
					jobtest.LabelStore
				}{s, s}, Unconditional: true}
				if what == "purge" {
					subject = jobtest.Subject{Store: struct {
						jobtest.Store
						jobtest.Purger
					}{s, s}, Unconditional: true}
				}

				start := jobtest.Loop(env, s.Look)
				subject.Start = func(forget bool) jobtest.Program {
					return breaksIf(start(forget), func() bool {
						if what == "limits" {
							return s.steps > 1 && !env.Options().IsZero()
						}
						isPlain := env.Options().IsZero() && len(s.happened) == min(len(what), 1)
						return s.steps > 1 && isPlain && s.happened[what] == (what != "")
					})
				}
				return subject
			})
		})
		if hasSteps := strings.Contains(story, "Its steps"); hasSteps != (what == "") || !strings.Contains(story, "broken") {
			t.Errorf("%q: the life has steps: %v\n%s", what, hasSteps, story)
		}
	}
}

// noting is a store that notes what the kit does to a job. It counts the later steps of pods.
type noting struct {
	*tagged
	happened map[string]bool
	steps    int
}

func (s *noting) CreateJob(j job.Job) error {
	s.happened, s.steps = map[string]bool{}, 0
	return s.tagged.CreateJob(j)
}

func (s *noting) notes(what string) { s.happened[what], s.steps = true, 0 }

func (s *noting) UpdatePod(p job.Pod) error {
	i := slices.IndexFunc(s.pods, func(is job.Pod) bool { return is.UID == p.UID })
	if s.steps++; i >= 0 && s.pods[i].Deletion == nil && p.Deletion != nil {
		s.notes("eviction")
	}
	return s.tagged.UpdatePod(p)
}

func (s *noting) AddPod(p job.Pod) error {
	s.notes("orphan")
	return labelled{s.store}.AddPod(p)
}

func (s *noting) Relabel(pod job.UID, matches bool) error {
	s.notes("new labels")
	return labelled{s.store}.Relabel(pod, matches)
}

func (s *noting) Purge(pod job.UID) error {
	s.notes("purge")
	return s.tagged.Purge(pod)
}

// breaksIf makes rounds of a program fail.
func breaksIf(round jobtest.Program, isBroken func() bool) jobtest.Program {
	return func(ctx context.Context) (time.Time, error) {
		again, err := round(ctx)
		if isBroken() {
			err = errors.New("broken")
		}
		return again, err
	}
}
