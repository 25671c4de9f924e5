package cronjobtest

import (
	"context"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/internal/world"
)

// Loop returns the Start function of a Subject that has no loop of its own: its program runs the
// loop of this package. Then the test is only about the backend.
func Loop(env *Env, look Look) func(forget bool) Program {
	l := &loop{env: env, look: look}
	return func(forget bool) Program {
		l.memory.Start(forget)
		return l.round
	}
}

type loop struct {
	env    *Env
	look   Look
	memory life.Memory[cronjob.Memory]
}

func (l *loop) round(ctx context.Context) (time.Time, error) {
	s, backend, err := l.look(ctx)
	if err != nil {
		return time.Time{}, err
	}

	s.Now, s.Schedule = l.env.Now(), l.env.Compile(&s.CronJob)
	s.Memory = l.memory.Value
	if s.Options.IsZero() {
		s.Options = l.env.Options()
	}
	requester, _ := l.env.subject.Store.(Requester)
	if requester != nil {
		if s.Triggers, err = requester.Triggers(); err != nil {
			return time.Time{}, err
		}
		if s.Backfills, err = requester.Backfills(); err != nil {
			return time.Time{}, err
		}
	}

	plan, err := cronjob.Reconcile(s)
	if err != nil {
		return time.Time{}, err
	}

	l.env.Planned(&s, &plan)
	end, err := cronjobapply.Executor{Parallel: 1}.Apply(ctx, l.env.Backend(backend), &plan)
	l.memory.Value = end.Memory

	if len(end.Triggered)+len(end.Backfills) > 0 {
		progress := func() error { return requester.StoreProgress(end.Triggered, end.Backfills) }
		if stored := l.env.Write(string(world.StoreBackfills), progress); stored != nil {
			return time.Time{}, stored
		}
	}

	if stored := l.env.Write("store the memory", l.memory.Store); stored != nil {
		return time.Time{}, stored
	}
	return end.Requeue.At, err
}
