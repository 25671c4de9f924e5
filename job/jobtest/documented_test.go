package jobtest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobtest"
)

// docs/adapter.md and docs/testing.md show the tests of this file.

func newStore(env *jobtest.Env) *store { return &store{env: env} }

func TestDocumented_Backend(t *testing.T) {
	jobtest.TestBackend(t, func(env *jobtest.Env) jobtest.Subject {
		store := newStore(env)
		return jobtest.Subject{Store: store, Start: jobtest.Loop(env, store.Look)}
	})
}

func TestDocumented_Late(t *testing.T) {
	jobtest.TestBackend(t, func(env *jobtest.Env) jobtest.Subject {
		store := newStore(env)
		start, cache := jobtest.LateLoop(env, func(seen job.Job) jobapply.Backend { return store.backend(seen.Version) })
		return jobtest.Subject{Store: store, Start: start, Cache: cache}
	})
}

func (s *store) backend(version int64) jobapply.Backend { return &backend{s, int(version)} }

func TestDocumented_OwnLoop(t *testing.T) {
	jobtest.TestBackend(t, func(env *jobtest.Env) jobtest.Subject {
		store, memories := newStore(env), map[job.UID]job.Memory{}
		start := func(forget bool) jobtest.Program {
			if forget {
				clear(memories)
			}
			return func(ctx context.Context) (time.Time, error) {
				s, b, err := store.Look(ctx)
				if err != nil {
					return time.Time{}, err
				}
				s.Now, s.Options, s.Memory = env.Now(), env.Options(), memories[s.Job.UID]
				plan, err := job.Reconcile(s)
				if err != nil {
					return time.Time{}, err
				}
				env.Planned(&s, &plan)
				end, err := jobapply.Executor{Parallel: 1}.Apply(ctx, env.Backend(b), &plan)
				if !end.Memory.Equal(s.Memory) {
					err = errors.Join(err, env.Write("store the memory", func() error { memories[s.Job.UID] = end.Memory; return nil }))
				}
				return end.Requeue.At, err
			}
		}
		return jobtest.Subject{Store: store, Start: start}
	})
}
