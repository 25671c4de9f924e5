package jobtest

import (
	"context"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/kit/internal/life"
)

// Loop returns a Start for a Subject without a loop of its own. It runs the loop of this
// package: look, plan, carry the plan out, keep the memory as JSON, and come again when the
// conclusion says so. So it tests a backend alone. It can also serve as a model of a loop.
func Loop(env *Env, look Look) func(forget bool) Program {
	l := &loop{env: env, look: look}
	return func(forget bool) Program {
		l.seen = nil
		l.memory.Start(forget)
		return l.round
	}
}

type loop struct {
	env    *Env
	look   Look
	memory life.Memory[job.Memory]
	// seen are the pods of the last look, by UID; nil after a start.
	seen map[job.UID]sighting
}

// sighting is how a pod was seen: being deleted, and as one of the job's.
type sighting struct{ leaving, owned bool }

func (l *loop) round(ctx context.Context) (time.Time, error) {
	s, backend, err := l.look(ctx)
	if err != nil {
		return time.Time{}, err
	}
	if s.Job.UID == "" {
		return l.cleanUp(ctx, s.Pods, backend)
	}
	s.Now = l.env.Now()
	if s.Options == (job.Options{}) {
		s.Options = l.env.Options()
	}
	s.Memory = l.memory.Value
	l.observe(&s)
	plan, err := job.Reconcile(s)
	if err != nil {
		return time.Time{}, err
	}
	l.env.Planned(&s, &plan)
	end, err := jobapply.Executor{Parallel: 1}.Apply(ctx, l.env.Backend(backend), &plan)
	l.memory.Value = end.Memory
	if stored := l.env.Write("store the memory", l.memory.Store); stored != nil {
		return time.Time{}, stored
	}
	return end.Requeue.At, err
}

// observe lowers the expectations by what has come and gone since the last look. The first
// look after a start sees everything. Pods that are not the job's are nobody's creations: an
// orphan that comes into sight must not pass for a pod that the program has created.
func (l *loop) observe(s *job.Snapshot) {
	if s.Consistent {
		return
	}
	now := make(map[job.UID]sighting, len(s.Pods))
	created, deleted := 0, 0
	for i := range s.Pods {
		p := &s.Pods[i]
		is := sighting{leaving: p.Deletion != nil, owned: p.Owner <= job.OwnedUnmatched}
		was, known := l.seen[p.UID]
		if is.owned && !known {
			created++
		}
		if is.owned && is.leaving && !was.leaving {
			deleted++
		}
		now[p.UID] = is
	}
	for uid, was := range l.seen {
		if _, there := now[uid]; !there && was.owned && !was.leaving {
			deleted++
		}
	}
	if l.seen == nil {
		s.Memory.Expectations = expectations.Counts{}
	} else {
		s.Memory.Expectations = s.Memory.Expectations.Observe(created, deleted)
	}
	l.seen = now
}
