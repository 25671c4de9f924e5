// Package control is the loop around the planner: read a snapshot, plan, carry
// the plan out, remember, wait.
package control

import (
	"context"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/examples/local/internal/manifest"
	"github.com/batchplan/batchplan/examples/local/internal/store"
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/apply"
)

// Round is what a round has led to, for the people who watch.
type Round struct {
	Job     *store.Job
	Spec    *job.Spec
	Status  job.Status
	Events  []job.Event
	Notes   []job.Note
	Waits   []job.Wait
	Requeue job.Requeue
	Now     time.Time
	// Pending is the number of pods that have not begun.
	Pending int
	// Err is what went wrong with the writes; they are repeated.
	Err error
}

// Loop drives one job.
type Loop struct {
	Store    *store.Store
	UID      string
	Manifest *manifest.Job
	Settings manifest.Settings
	Options  job.Options
	// Changed is told that pods were created or deleted.
	Changed func()
	// Report is told of every round.
	Report func(Round)

	wake     chan struct{}
	failures int
}

// NewLoop makes the loop of a stored job.
func NewLoop(s *store.Store, j *store.Job) (*Loop, error) {
	m, err := manifest.Load(j.Manifest)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", j.Key(), err)
	}
	return &Loop{Store: s, UID: j.UID, Manifest: m, wake: make(chan struct{}, 1)}, nil
}

// Wake asks for a round soon.
func (l *Loop) Wake() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run goes round until the job has ended or is suspended with nothing running,
// or until the context ends.
func (l *Loop) Run(ctx context.Context) (job.Status, error) {
	b := &backend{store: l.Store, uid: l.UID, manifest: l.Manifest, settings: l.Settings, changed: l.Changed}
	for {
		b.wrote.Store(false)
		round, retry, err := l.round(ctx, b)
		if err != nil {
			return job.Status{}, err
		}
		l.Report(round)
		if quiet, err := l.isQuiet(&round); quiet || err != nil {
			return round.Status, err
		}
		if ctx.Err() != nil {
			return round.Status, ctx.Err()
		}
		if b.wrote.Load() && !retry {
			continue // own writes are seen at once: go on until there is nothing to do
		}
		l.wait(ctx, &round, retry)
	}
}

// round plans once and carries the plan out.
func (l *Loop) round(ctx context.Context, b *backend) (Round, bool, error) {
	stored, err := l.Store.Job(l.UID)
	if err != nil {
		return Round{}, false, err
	}
	pods, err := l.Store.OpenPods(l.UID)
	if err != nil {
		return Round{}, false, err
	}
	now := time.Now()
	snapshot := l.snapshot(&stored, pods, now)
	plan, err := job.Reconcile(snapshot)
	if err != nil {
		return Round{}, false, fmt.Errorf("job %s: %w", stored.Key(), err)
	}
	outcome, applyErr := apply.Executor{}.Apply(ctx, b, &plan)
	conclusion := plan.Conclude(outcome)
	if err := l.Store.Conclude(l.UID, conclusion.Memory, conclusion.Events, now); err != nil {
		return Round{}, false, err
	}
	if stored, err = l.Store.Job(l.UID); err != nil {
		return Round{}, false, err
	}
	round := Round{
		Job: &stored, Spec: &l.Manifest.Spec, Status: stored.Status, Events: conclusion.Events,
		Notes: plan.Notes, Waits: plan.Waits, Requeue: plan.Requeue, Now: now, Err: applyErr,
	}
	for i := range pods {
		if len(pods[i].State.Containers) == 0 && !pods[i].Finished() {
			round.Pending++
		}
	}
	return round, conclusion.Retry, nil
}

func (l *Loop) snapshot(stored *store.Job, pods []store.Pod, now time.Time) job.Snapshot {
	spec := l.Manifest.Spec
	if stored.Held {
		// Ctrl-C is the suspension that the Job API has, so what it means for the
		// pods and for the counters needs no rule of its own (J28, J39).
		suspend := true
		spec.Suspend = &suspend
	}
	memory := stored.Memory
	// Pods are read from the store that the writes of earlier rounds went to: all
	// of them are in this snapshot, and nothing is left to be expected (E1, E4).
	memory.Expectations, memory.Untracking = expectations.Counts{}, expectations.UIDs{}
	views := make([]job.Pod, len(pods))
	for i := range pods {
		views[i] = pods[i].View()
	}
	return job.Snapshot{
		Job: job.Job{Namespace: stored.Namespace, Name: stored.Name, UID: stored.UID,
			CreationTimestamp: stored.Created, Spec: spec, Status: stored.Status},
		Pods: views, Now: now, Memory: memory, Options: l.Options,
	}
}

// isQuiet reports whether nothing can happen to the job any more: it has ended,
// or it is suspended, and no process is left.
func (l *Loop) isQuiet(r *Round) (bool, error) {
	suspended := r.Status.Condition(job.Suspended).Status == job.ConditionTrue &&
		(r.Job.Held || l.Manifest.Spec.Suspend != nil && *l.Manifest.Spec.Suspend)
	if r.Status.Finished() == "" && !suspended {
		return false, nil
	}
	pods, err := l.Store.OpenPods(l.UID)
	for i := range pods {
		if p := &pods[i]; !p.Finished() || p.Tracked || !p.Deleted.IsZero() {
			return false, err
		}
	}
	return err == nil, err
}

// wait returns when the next round is due: pods have changed, the plan's time has
// come, or a failed write is to be repeated.
func (l *Loop) wait(ctx context.Context, r *Round, retry bool) {
	delay, timed := r.Requeue.After(time.Now())
	if l.failures++; !retry {
		l.failures = 0
	} else if d := backoff.Retry().Delay(l.failures); !timed || d < delay {
		delay, timed = d, true
	}
	var due <-chan time.Time
	if timed {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
	case <-l.wake:
	case <-due:
	}
}
