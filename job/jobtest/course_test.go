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

// TestSteps: a kit prints the steps of a life. They must be those of a file, which other tests (of
// stories, of scripts and of the page) play. These tests must reach the same end.
func TestSteps(t *testing.T) {
	kittest.PlayUntilFailure(t, 6)
	story := kittest.Story(t, func(tb testing.TB) {
		jobtest.TestBackend(tb, func(env *jobtest.Env) jobtest.Subject {
			s := newStore(env)
			start, end := jobtest.Loop(env, s.Look), ending{store: s}
			return jobtest.Subject{Store: s, Start: func(forget bool) jobtest.Program {
				return end.breaks(start(forget))
			}}
		})
	})

	kittest.CheckSteps(t, story, "../../internal/line/testdata/steps.txt", *update)
}

// ending makes a program fail once a job has succeeded in spite of failed pods, one of which was
// evicted. If a pod has ended late, the program does not fail.
type ending struct {
	*store
	evicted, late bool
}

func (e *ending) breaks(round jobtest.Program) jobtest.Program {
	return breaksIf(round, func() bool {
		for _, p := range e.pods {
			e.evicted = e.evicted || p.Detail != nil && len(p.Detail.Conditions) > 0
			e.late = e.late || isLate(&p, e.env.Now())
		}
		j, err := e.Job()
		isPlain := e.env.Options().IsZero() && !e.late
		return err == nil && isPlain && e.evicted && j.Status.Finished() == job.ConditionComplete && j.Status.Failed > 1
	})
}

// isLate reports whether a pod runs after its grace period.
func isLate(p *job.Pod, now time.Time) bool {
	return p.Deletion != nil && p.Phase == job.PodRunning && !now.Before(p.Deletion.Timestamp)
}

// TestSteps_None: no steps are printed for a life in which something happens that stories, scripts
// and the page cannot repeat.
func TestSteps_None(t *testing.T) {
	kittest.PlayUntilFailure(t, 1)
	for _, what := range []string{"", "limits", "late end", "orphan", "new labels", "purge"} {
		story := kittest.Story(t, func(tb testing.TB) {
			jobtest.TestBackend(tb, func(env *jobtest.Env) jobtest.Subject {
				s := &noting{tagged: newTagged(env, none)}
				subject := jobtest.Subject{Store: struct {
					jobtest.Store
					jobtest.LabelStore
				}{s, s}, Unconditional: true}
				switch what {
				case "late end":
					subject.Store = struct{ jobtest.Store }{s}
				case "purge":
					subject = jobtest.Subject{Store: struct {
						jobtest.Store
						jobtest.Purger
					}{s, s}, Unconditional: true}
				}

				start := jobtest.Loop(env, s.Look)
				subject.Start = func(forget bool) jobtest.Program {
					return breaksIf(start(forget), func() bool {
						late := func(p job.Pod) bool { return isLate(&p, env.Now()) }
						if slices.ContainsFunc(s.pods, late) && !s.happened["late end"] {
							s.notes("late end")
						}
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

// noting is a store that notes what the kit does to a job. It counts the changes of pods after the
// last note.
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
	s.steps++
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
