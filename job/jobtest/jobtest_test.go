package jobtest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/kittest"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobtest"
)

// openRight returns the subject of TestBackend_Right.
func openRight(env *jobtest.Env, s *store) jobtest.Subject {
	return jobtest.Subject{Store: orphaning{labelled{s}}, Start: jobtest.Loop(env, s.Look)}
}

// openLate returns a subject whose program is the loop of package jobtest. The program sees the
// objects of the store late, through a Mirror.
func openLate(env *jobtest.Env, s *store) jobtest.Subject {
	start, cache := jobtest.LateLoop(env, func(seen job.Job) jobapply.Backend { return &backend{s, int(seen.Version)} })
	return jobtest.Subject{Store: labelled{s}, Start: start, Cache: cache}
}

// TestBackend_Right finds nothing wrong with a backend that is right.
func TestBackend_Right(t *testing.T) {
	jobtest.TestBackend(t, func(env *jobtest.Env) jobtest.Subject {
		return openRight(env, &store{env: env})
	})
}

// TestBackend_Late finds nothing wrong with a program that sees its objects late and keeps its
// expectations.
func TestBackend_Late(t *testing.T) {
	jobtest.TestBackend(t, func(env *jobtest.Env) jobtest.Subject { return openLate(env, &store{env: env}) })
}

// TestBackend_Groups finds nothing wrong with a store that has gangs.
func TestBackend_Groups(t *testing.T) {
	jobtest.TestBackend(t, func(env *jobtest.Env) jobtest.Subject {
		s := newGrouping(newStore(env), "")
		return jobtest.Subject{Store: s, Start: jobtest.Loop(env, s.Look)}
	})
}

// TestBackend_LateGroups finds nothing wrong with a program that sees its groups late.
func TestBackend_LateGroups(t *testing.T) {
	jobtest.TestBackend(t, func(env *jobtest.Env) jobtest.Subject {
		return openLateGroups(env, newGrouping(newStore(env), ""))
	})
}

// TestBackend_Polls finds nothing wrong with a loop that plans every ten seconds, even during a
// long backoff.
func TestBackend_Polls(t *testing.T) {
	jobtest.TestBackend(t, func(env *jobtest.Env) jobtest.Subject {
		s := newStore(env)
		start := jobtest.Loop(env, s.Look)
		return jobtest.Subject{Store: s, Start: func(forget bool) jobtest.Program {
			round := start(forget)
			return func(ctx context.Context) (time.Time, error) {
				next, err := round(ctx)
				if poll := env.Now().Add(10 * time.Second); next.IsZero() || next.After(poll) {
					next = poll
				}
				return next, err
			}
		}}
	})
}

// TestBackend_Map: a life can be repeated even if a store returns its pods in any order.
func TestBackend_Map(t *testing.T) {
	five := int32(5)
	many := job.Spec{Parallelism: &five}
	job.Default(&many)
	for name, c := range map[string]struct {
		specs *rapid.Generator[job.Spec]
		open  func(*jobtest.Env, *store) jobtest.Subject
	}{"consistent": {nil, openRight}, "late": {nil, openLate}, "many pods": {rapid.Just(many), openRight}} {
		t.Run(name, func(t *testing.T) {
			kittest.Repeats(t, "100", func(note func([]string)) {
				jobtest.Test{Specs: c.specs}.Run(t, func(env *jobtest.Env) jobtest.Subject {
					s := &store{env: env, isMap: true}
					subject := c.open(env, s)
					subject.Close = func() { note(s.changes) }
					return subject
				})
			})
		})
	}
}

// TestBackend_ConditionsUnseen finds a loop whose snapshots lack conditions of pods that its store
// has. The kit reports the first missing condition, not only a job that ends differently as a
// result.
func TestBackend_ConditionsUnseen(t *testing.T) {
	story := kittest.Find(t, "1000", func(tb testing.TB) {
		jobtest.TestBackend(tb, func(env *jobtest.Env) jobtest.Subject {
			s := &store{env: env}
			return jobtest.Subject{Store: s,
				Start: jobtest.Loop(env, func(ctx context.Context) (job.Snapshot, jobapply.Backend, error) {
					seen, b, err := s.Look(ctx)
					for i := range seen.Pods {
						detail := *seen.Pods[i].Detail
						detail.Conditions = nil
						seen.Pods[i].Detail = &detail
					}
					return seen, b, err
				})}
		})
	})
	if !strings.Contains(story, "otherwise than the store: detail.conditions[0]") {
		t.Error(story)
	}
}

// observer counts how often it is given the results of the writes.
type observer struct {
	jobapply.Backend
	told int
}

func (o *observer) Executed(job.Writes) { o.told++ }

// TestEnv_BackendIsAsAble: the executor finds the optional interfaces of the program's backend.
func TestEnv_BackendIsAsAble(t *testing.T) {
	o := &observer{}
	if _, err := (jobapply.Executor{}).Apply(t.Context(), new(jobtest.Env).Backend(o), &job.Plan{}); err != nil ||
		o.told != 1 {
		t.Errorf("told %d times, %v", o.told, err)
	}
}
