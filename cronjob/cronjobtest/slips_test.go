package cronjobtest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/cronjob/cronjobtest"
	"github.com/batchplan/batchplan/internal/kittest"
)

// program is a loop with a small mistake in its times. Its store has no triggers and no backfills.
type program struct {
	kittest.Slip
	*store
	memory cronjob.Memory
}

func (p *program) start(forget bool) cronjobtest.Program {
	if forget {
		p.memory = cronjob.Memory{}
	}
	return p.Slip.Program(p.env.Now, p.round)
}

func (p *program) round(ctx context.Context) (time.Time, error) {
	s, b, err := p.Look(ctx)
	if err != nil {
		return time.Time{}, err
	}
	s.Now, s.Schedule, s.Options, s.Memory = p.Clock(p.env.Now()), p.env.Compile(&s.CronJob), p.env.Options(), p.memory
	plan, err := cronjob.Reconcile(s)
	if err != nil {
		return time.Time{}, err
	}
	p.env.Planned(&s, &plan)

	end, err := cronjobapply.Executor{Parallel: 1}.Apply(ctx, p.env.Backend(b), &plan)
	err = errors.Join(err, p.env.Write("store the memory", func() error { p.memory = end.Memory; return nil }))
	return end.Requeue.At, err
}

// TestBackend_Slips finds each mistake within 20 lives, with any seed.
func TestBackend_Slips(t *testing.T) {
	for _, slip := range append(kittest.Slips("CL4", "CL5"), kittest.Slip{}) {
		test := func(tb testing.TB) {
			cronjobtest.TestBackend(tb, func(env *cronjobtest.Env) cronjobtest.Subject {
				p := &program{Slip: slip, store: &store{env: env}}
				return cronjobtest.Subject{Store: struct{ cronjobtest.Store }{p.store}, Start: p.start}
			})
		}
		t.Run(slip.Name, func(t *testing.T) {
			if slip.Name == "" {
				test(t)
				return
			}
			kittest.Within(t, 5, 20, slip.Story, test)
		})
	}
}

// TestBackend_Young finds, within 20 lives, a loop whose snapshots have the current time as the
// creationTimestamp (C7).
func TestBackend_Young(t *testing.T) {
	kittest.Within(t, 5, 20, "shows the CronJob otherwise than the store: creationTimestamp: got", func(tb testing.TB) {
		cronjobtest.TestBackend(tb, func(env *cronjobtest.Env) cronjobtest.Subject {
			s := &store{env: env}
			look := func(ctx context.Context) (cronjob.Snapshot, cronjobapply.Backend, error) {
				seen, b, err := s.Look(ctx)
				seen.CronJob.CreationTimestamp = env.Now()
				return seen, b, err
			}
			return cronjobtest.Subject{Store: s, Start: cronjobtest.Loop(env, look)}
		})
	})
}
