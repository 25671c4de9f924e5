package jobtest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/kittest"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobtest"
)

// program is a loop with a small mistake in its times.
type program struct {
	kittest.Slip
	env      *jobtest.Env
	look     jobtest.Look
	memories map[job.UID]job.Memory
}

func (p *program) start(forget bool) jobtest.Program {
	if forget {
		clear(p.memories)
	}
	return p.Slip.Program(p.env.Now, p.round)
}

func (p *program) round(ctx context.Context) (time.Time, error) {
	s, b, err := p.look(ctx)
	if err != nil {
		return time.Time{}, err
	}
	s.Now, s.Options, s.Memory = p.Clock(p.env.Now()), p.env.Options(), p.memories[s.Job.UID]
	plan, err := job.Reconcile(s)
	if err != nil {
		return time.Time{}, err
	}
	p.env.Planned(&s, &plan)

	end, err := jobapply.Executor{Parallel: 1}.Apply(ctx, p.env.Backend(b), &plan)
	if !end.Memory.Equal(s.Memory) {
		err = errors.Join(err,
			p.env.Write("store the memory", func() error { p.memories[s.Job.UID] = end.Memory; return nil }))
	}
	return end.Requeue.At, err
}

// TestBackend_Slips finds each mistake in the times of a loop within 20 lives with any seed, for
// loops that read their store and for loops that see it late, through a watch.
func TestBackend_Slips(t *testing.T) {
	for _, slip := range append(kittest.Slips("L9", "L6"), kittest.Slip{}) {
		for _, late := range []bool{false, true} {
			test := func(tb testing.TB) {
				jobtest.TestBackend(tb, func(env *jobtest.Env) jobtest.Subject {
					s := newStore(env)
					if late {
						return behindWatch(env, s, slip)
					}
					p := &program{Slip: slip, env: env, look: s.Look, memories: map[job.UID]job.Memory{}}
					return jobtest.Subject{Store: s, Start: p.start}
				})
			}

			name := slip.Name
			if late {
				name += ", behind a watch"
			}

			t.Run(name, func(t *testing.T) {
				if slip.Name == "" {
					test(t)
					return
				}
				kittest.Within(t, 5, 20, slip.Story, test)
			})
		}
	}
}

// behindWatch returns a subject whose program sees its store late, through a watch. Argument slip
// is a mistake in the times at which the program plans again.
func behindWatch(env *jobtest.Env, s *store, slip kittest.Slip) jobtest.Subject {
	w := &watcher{store: s, clock: slip.Clock}
	return jobtest.Subject{Store: s, Cache: w, Start: func(forget bool) jobtest.Program {
		return slip.Program(env.Now, w.start(forget))
	}}
}

// TestBackend_Careless finds each mistake of a store within 20 lives with any seed.
func TestBackend_Careless(t *testing.T) {
	for name, m := range map[string]struct {
		story string
		store func(*store) slipping
	}{
		"creation times are not stored":           {"has no creationTimestamp", func(s *store) slipping { return undated{s} }},
		"JobVersion is the version that was read": {"Store: JobVersion is", func(s *store) slipping { return unversioned{s} }},
		"the job's creation time is not read": {
			"shows the job otherwise than the store: creationTimestamp: got missing", func(s *store) slipping { return ageless{s} }},
		"Assigned is not read": {"otherwise than the store: assigned", func(s *store) slipping { return unassigned{s} }},
		"the backend adopts no pods": {
			"is no Adopter", func(s *store) slipping { return possessive{labelled{s}} }},
		"a pod is adopted by a job that is being deleted": {
			"JI22: a pod is adopted for a job that is being deleted", func(s *store) slipping { return hasty{labelled{s}} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			kittest.Within(t, 5, 20, m.story, func(tb testing.TB) {
				jobtest.TestBackend(tb, func(env *jobtest.Env) jobtest.Subject {
					s := m.store(newStore(env))
					return jobtest.Subject{Store: s, Start: jobtest.Loop(env, s.Look)}
				})
			})
		})
	}
}

// TestBackend_CarelessWithGroups finds each mistake of a store with gangs within 100 lives with any
// seed.
func TestBackend_CarelessWithGroups(t *testing.T) {
	for mistake, story := range map[string]string{
		"groups are not read":      "shows the groups otherwise than the store",
		"a group keeps its size":   "was written, and podGroups[0].minCount: got",
		"the groups go with a pod": "Store: the groups have changed by delete",
	} {
		t.Run(mistake, func(t *testing.T) {
			kittest.Within(t, 5, 100, story, func(tb testing.TB) {
				jobtest.TestBackend(tb, func(env *jobtest.Env) jobtest.Subject {
					s := newGrouping(newStore(env), mistake)
					return jobtest.Subject{Store: s, Start: jobtest.Loop(env, s.Look)}
				})
			})
		})
	}

	t.Run("a name is no lock", func(t *testing.T) {
		kittest.Within(t, 5, 100, "JI29: the ", func(tb testing.TB) {
			jobtest.TestBackend(tb, func(env *jobtest.Env) jobtest.Subject {
				return openLateGroups(env, newGrouping(newStore(env), "a name is no lock"))
			})
		})
	})
}

// slipping is a store with a mistake.
type slipping interface {
	jobtest.Store
	Look(context.Context) (job.Snapshot, jobapply.Backend, error)
}

// undated is a store without creation times.
type undated struct{ *store }

func (s undated) Look(ctx context.Context) (job.Snapshot, jobapply.Backend, error) {
	seen, b, err := s.store.Look(ctx)
	return seen, undatedBackend{b.(*backend)}, err
}

type undatedBackend struct{ *backend }

func (b undatedBackend) Create(ctx context.Context, c job.Creation) (job.PodRef, error) {
	ref, err := b.backend.Create(ctx, c)
	b.pods[len(b.pods)-1].Detail.CreationTimestamp = time.Time{}
	return ref, err
}

// unversioned is a store whose backend keeps the version of the job as it was read.
type unversioned struct{ *store }

func (s unversioned) Look(ctx context.Context) (job.Snapshot, jobapply.Backend, error) {
	seen, b, err := s.store.Look(ctx)
	return seen, unversionedBackend{b.(*backend), int64(s.version)}, err
}

type unversionedBackend struct {
	*backend
	read int64
}

func (b unversionedBackend) JobVersion() int64 { return b.read }

// ageless is a store whose snapshots lack the creation time of the job.
type ageless struct{ *store }

func (s ageless) Look(ctx context.Context) (job.Snapshot, jobapply.Backend, error) {
	seen, b, err := s.store.Look(ctx)
	seen.Job.CreationTimestamp = time.Time{}
	return seen, b, err
}

// unassigned is a store whose snapshots do not tell which pods are on a node.
type unassigned struct{ *store }

func (s unassigned) Look(ctx context.Context) (job.Snapshot, jobapply.Backend, error) {
	seen, b, err := s.store.Look(ctx)
	for i := range seen.Pods {
		seen.Pods[i].Assigned = false
	}
	return seen, b, err
}

// possessive is a store whose backend has only the methods of a Backend.
type possessive struct{ labelled }

func (s possessive) Look(ctx context.Context) (job.Snapshot, jobapply.Backend, error) {
	seen, b, err := s.store.Look(ctx)
	return seen, struct{ jobapply.Backend }{b}, err
}

// hasty is a store that adopts pods without a look at the job.
type hasty struct{ labelled }

func (s hasty) Look(ctx context.Context) (job.Snapshot, jobapply.Backend, error) {
	seen, b, err := s.store.Look(ctx)
	return seen, hastyBackend{b.(*backend)}, err
}

type hastyBackend struct{ *backend }

func (b hastyBackend) Adopt(_ context.Context, ref job.Claim) error {
	return b.update(ref.UID, func(p *job.Pod) error {
		p.Owner, p.Untracked = jobpod.Owned, false
		return nil
	})
}
