package jobtest

import (
	"context"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

// Loop returns a Start for a Subject without a loop of its own. It runs the loop of this package:
// look, plan, carry the plan out, keep the memory as JSON, and plan again when the conclusion asks
// for it. With it, a backend can be tested alone. It is also a model for loops.
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
	seen map[job.UID]*expectations.Sight
}

func (l *loop) round(ctx context.Context) (time.Time, error) {
	s, backend, err := l.look(ctx)
	if err != nil {
		return time.Time{}, err
	}
	if s.Job.UID == "" {
		return l.cleanUp(ctx, s.Pods, backend)
	}

	s.Now = l.env.Now()
	if s.Options.IsZero() {
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

// observe lowers the expectations by the pods that have come or gone since the last look. The first
// look after a start shows everything, so nothing is expected then.
func (l *loop) observe(s *job.Snapshot) {
	if s.Consistent {
		return
	}

	now := make(map[job.UID]*expectations.Sight, len(s.Pods))
	counts := s.Memory.Expectations
	for i := range s.Pods {
		p := s.Pods[i].Sight()
		counts = counts.Observe(l.seen[p.UID], p)
		now[p.UID] = p
	}

	for uid, was := range l.seen {
		if now[uid] == nil {
			counts = counts.Observe(was, nil)
		}
	}

	if l.seen == nil {
		counts = expectations.Counts{}
	}
	s.Memory.Expectations, l.seen = counts, now
}
