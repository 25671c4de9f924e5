package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// Lag is the maximum time between the time at which a run is due and the time at which a loop
// notices it.
const Lag = time.Second

// CronRound is the result of a round of a CronJob, to be reported to the user.
type CronRound struct {
	CronJob *store.CronJob
	Events  []job.Event
	Notes   []job.Note
	Waits   []cronjob.Wait
	Requeue cronjob.Requeue
	// NextRun is the next time of the schedule. It is zero if no run is going to start.
	NextRun time.Time
	Now     time.Time
	// Err is the error of the writes that failed. They are retried.
	Err error
}

// CronLoop drives one CronJob.
type CronLoop struct {
	Store    *store.Store
	Clock    *clock.Clock
	UID      job.UID
	Manifest *manifest.CronJob
	// Follow is called after each round with the CronJob's jobs. Each unfinished job needs a loop.
	Follow func(jobs []store.Job) error
	// Busy reports whether any loop of the CronJob's jobs is running.
	Busy func() bool
	// Deleted is called when jobs were deleted.
	Deleted func()
	// Report is called after every round.
	Report func(CronRound)

	waiter
	compiled cronjob.Compiled
	planner  cronjob.Planner
	held     atomic.Bool
	// around, if not nil, wraps the writes of each round.
	around func(*cronjob.Snapshot, *cronjob.Plan, cronWrites) cronWrites
}

// NewCronLoop returns the loop of a stored CronJob. It compiles the schedule of the stored
// manifest, so a changed manifest takes effect here (C17).
func NewCronLoop(s *store.Store, c *clock.Clock, stored *store.CronJob) (*CronLoop, error) {
	m, err := manifest.LoadCronJob(stored.Manifest)
	if err != nil {
		return nil, fmt.Errorf("CronJob %s: %w", stored.Key(), err)
	}
	return &CronLoop{
		Store: s, Clock: c, UID: stored.UID, Manifest: m, waiter: newWaiter(c),
		compiled: Compile(stored, m),
	}, nil
}

// Compile compiles the schedule of a stored CronJob.
func Compile(stored *store.CronJob, m *manifest.CronJob) cronjob.Compiled {
	return cronjob.Compile(&cronjob.CronJob{CreationTimestamp: stored.Created, Spec: m.Spec})
}

// Hold keeps the loop from starting runs. Run then returns once the running jobs have ended.
func (l *CronLoop) Hold() {
	l.held.Store(true)
	l.Wake()
}

// Run runs rounds until the context ends, or until the loop is held and nothing is left to do. If
// the CronJob is deleted, the error is ErrRemoved.
func (l *CronLoop) Run(ctx context.Context) error {
	for {
		began := time.Now()
		held := l.held.Load()
		round, again, retry, err := l.round(ctx, held)
		if errors.Is(err, store.ErrNotFound) {
			err = ErrRemoved
		}
		if ctx.Err() != nil && (err != nil || round.Err != nil) {
			return ctx.Err() // the round was interrupted, and another runner repeats it
		}
		if failed, err := l.endure(ctx, began, err); err != nil {
			return err
		} else if failed {
			continue
		}
		if !held || len(round.Events) > 0 || round.Err != nil {
			l.Report(round)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case again && !retry:
			continue // the loop sees its own writes immediately, so it continues until there is nothing to do
		case held && !retry && !l.Busy():
			return nil
		}
		l.wait(ctx, round.Requeue.At, retry)
	}
}

// round plans once and carries out the plan. again is true if the round has written something, and
// retry is true if a write has failed.
func (l *CronLoop) round(ctx context.Context, held bool) (round CronRound, again, retry bool, err error) {
	now, err := Now(l.Store, l.Clock)
	if err != nil {
		return CronRound{}, false, false, err
	}
	stored, jobs, others, triggers, err := l.read()
	if err != nil {
		return CronRound{}, false, false, err
	}
	if err := l.Follow(jobs); err != nil {
		return CronRound{}, false, false, err
	}

	if held {
		triggers = nil // the triggers stay in the store for the next runner
	}

	snapshot := l.snapshot(&stored, slices.Concat(jobs, others), triggers, now, held)
	plan, err := l.planner.Reconcile(snapshot)
	if err != nil {
		return CronRound{}, false, false, fmt.Errorf("CronJob %s: %w", stored.Key(), err)
	}

	b := &cronBackend{store: l.Store, now: now, cronJob: &stored, manifest: l.Manifest}
	writes := cronWrites(b)
	if l.around != nil {
		writes = l.around(snapshot, plan, b)
	}
	end, applyErr := cronjobapply.Executor{Parallel: 1}.Apply(ctx, writes, plan)
	if err := writes.conclude(&end); err != nil {
		return CronRound{}, false, false, err
	}

	if !end.Retry && !b.wrote {
		end.Requeue, err = l.expire(b, jobs, triggers, end.Requeue, now)
	}
	if b.deleted {
		l.Deleted()
	}

	round = CronRound{
		CronJob: &stored, Events: end.Events, Notes: plan.Notes, Waits: plan.Waits, Requeue: end.Requeue,
		NextRun: plan.NextRun, Now: now, Err: applyErr,
	}
	if held {
		round.Waits = nil // their reason would be a suspension
	}

	round.CronJob.Status = end.Status
	return round, b.wrote, end.Retry, err
}

// read reads the CronJob, its jobs, the triggers, and jobs of others that could have the name of a
// run.
func (l *CronLoop) read() (stored store.CronJob, jobs, others []store.Job, triggers []cronjob.Trigger, err error) {
	stored, err = l.Store.CronJob(l.UID)
	if err == nil && !stored.Deleted.IsZero() {
		err = ErrRemoved
	}
	if err == nil {
		jobs, err = l.Store.JobsOf(l.UID)
	}
	if err == nil {
		others, err = l.Store.NamedAs(&stored)
	}
	if err == nil {
		triggers, err = l.Store.Triggers(l.UID)
	}
	return stored, jobs, others, triggers, err
}

func (l *CronLoop) snapshot(
	stored *store.CronJob, jobs []store.Job, triggers []cronjob.Trigger, now time.Time, held bool,
) *cronjob.Snapshot {
	spec := l.Manifest.Spec
	if held {
		suspend := true // a held CronJob starts no runs, as if it were suspended (C6)
		spec.Suspend = &suspend
	}
	children := make([]cronjob.Child, len(jobs))
	for i := range jobs {
		children[i] = jobs[i].Child(stored.UID)
	}
	return &cronjob.Snapshot{
		CronJob: cronjob.CronJob{
			Namespace: stored.Namespace, Name: stored.Name, UID: stored.UID, CreationTimestamp: stored.Created,
			Spec: spec, Status: stored.Status,
		},
		Children: children, Triggers: triggers, Now: now, Schedule: l.compiled, Memory: stored.Memory, Consistent: true,
	}
}

// expire deletes the finished jobs whose TTL has passed (T2). If another job expires before the
// next round, expire moves that round to the time of the expiry. It runs only after a round without
// writes. Otherwise the status might not have recorded a job yet, and once the job is deleted, its
// run would start again (CI1).
func (l *CronLoop) expire(
	b *cronBackend, jobs []store.Job, triggers []cronjob.Trigger, next cronjob.Requeue, now time.Time,
) (cronjob.Requeue, error) {
	for i := range jobs {
		j := &jobs[i]
		asked := func(t cronjob.Trigger) bool { return cronjob.Naming{}.TriggerName(b.cronJob.Name, t) == j.Name }
		if j.Status.Finished() == "" || slices.ContainsFunc(triggers, asked) {
			continue
		}

		var object struct {
			Spec job.Spec `json:"spec"`
		}
		if err := json.Unmarshal(j.Manifest, &object); err != nil {
			return next, err
		}

		expired, at, err := job.Expire(&job.Job{Spec: object.Spec, Status: j.Status}, job.Options{}, now)
		if err != nil {
			return next, fmt.Errorf("job %s: %w", j.Key(), err)
		}

		if expired {
			if _, err := l.Store.DeleteJob(j.UID, now); err != nil {
				return next, err
			}
			b.deleted = true
		} else if !at.IsZero() && (next.At.IsZero() || at.Before(next.At)) {
			next = cronjob.Requeue{At: at}
		}
	}
	return next, nil
}
