package cronjobtest

import (
	"context"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/kit/internal/life"
	"github.com/batchplan/batchplan/kit/world"
)

// Store is the store of the program that is tested, as users and the test see it. It
// holds one CronJob with its jobs. Reads must show the source of truth, as it is now.
type Store interface {
	// CreateCronJob stores a new CronJob, without a status. Its spec has its defaults. The store may
	// give it another UID, which must be new.
	CreateCronJob(c cronjob.CronJob) error
	// RemoveCronJob removes the CronJob with its jobs, its triggers and its backfills. Another of the
	// same name may follow, and jobs of the same names.
	RemoveCronJob() error
	// UpdateSpec replaces the spec, as a user does.
	UpdateSpec(s cronjob.Spec) error
	// CronJob reads the CronJob.
	CronJob() (cronjob.CronJob, error)
	// Jobs reads all jobs of the CronJob, also those that have ended. A UID must be new in
	// the whole life.
	Jobs() ([]cronjob.Child, error)
	// UpdateJob stores how a job has ended: Finished, FinishTime and CompletionTime.
	UpdateJob(c cronjob.Child) error
	// RemoveJob removes a job, as a user does, or as the garbage collector does once the pods
	// are gone of a job that is being deleted.
	RemoveJob(name string) error
}

// Program is the program that is tested, while it runs. A call looks at the CronJob, plans
// once and carries out the plan. It returns when it wants to be called again although nothing
// happens; the zero time means not at all. A program is called when the CronJob or a job
// changes, when that time comes, and soon again after an error, but never because of a write
// of its own.
type Program func(ctx context.Context) (again time.Time, err error)

// Subject is a store with a program on it.
type Subject struct {
	Store Store
	// Start starts the program. It is called at first, and again after the program was
	// ended: with forget the program must drop the memory that it has stored, as if it were
	// lost, otherwise it finds it.
	Start func(forget bool) Program
	// Late says that the program sees its objects late, through a watch or a cache. Less can
	// be promised then.
	Late bool
	// Cache, if not nil, is what the program sees its objects through. The test shows it the
	// changes late, and calls the program when it has shown something. Such a subject is Late.
	Cache Cache
	// OneWriter says that nothing but the program writes the CronJob while a round is under way, so
	// that its status needs no condition: users edit it between the rounds.
	OneWriter bool
	// Close, if not nil, is called when the life is over.
	Close func()
}

// Look reads a snapshot, and returns it with the backend that carries out a plan made from
// it. Now, Schedule and Memory are filled in by the caller.
type Look func(ctx context.Context) (cronjob.Snapshot, cronjobapply.Backend, error)

// Loop returns a Start for a Subject without a loop of its own: it runs the loop of this
// package. So it tests a backend alone.
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
	if s.Options == (cronjob.Options{}) {
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
