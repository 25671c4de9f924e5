// Package control runs the loops around the planners of Jobs and CronJobs. A loop reads a snapshot,
// plans, carries out the plan, stores the memory, and waits. The package's collector removes
// deleted objects.
package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// Round is the result of a round, to be reported to the user.
type Round struct {
	Job     *store.Job
	Spec    *job.Spec
	Status  job.Status
	Events  []job.Event
	Notes   []job.Note
	Waits   []job.Wait
	Requeue job.Requeue
	Now     time.Time
	// again is the time of the next round, as the conclusion of the round set it. It may be earlier
	// than Requeue.At.
	again time.Time
	// Pending is the number of pods that have not started.
	Pending int
	// Err is the error of the writes that failed. They are retried.
	Err error
}

// Loop drives one job.
type Loop struct {
	Store    *store.Store
	Clock    *clock.Clock
	UID      job.UID
	Manifest *manifest.Job
	Settings manifest.Settings
	Options  job.Options
	// Changed is called when pods were created or deleted.
	Changed func()
	// Report is called after every round.
	Report func(Round)

	// settled is true if the last round left no failed pod that can still end the job; see pods.
	settled bool
	waiter
}

// NewLoop returns the loop of a stored job.
func NewLoop(s *store.Store, c *clock.Clock, j *store.Job) (*Loop, error) {
	m, err := manifest.Load(j.Manifest)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", j.Key(), err)
	}
	return &Loop{Store: s, Clock: c, UID: j.UID, Manifest: m, waiter: newWaiter(c)}, nil
}

// ErrRemoved is the error that Run returns if the job or CronJob of the loop is deleted.
var ErrRemoved = errors.New("removed")

// Run runs rounds until the context ends, until the job has ended, or until the job is suspended
// and nothing runs. If the job is deleted, the error is ErrRemoved, and the collector removes the
// rest of the job.
func (l *Loop) Run(ctx context.Context) (job.Status, error) {
	b := &backend{store: l.Store, uid: l.UID, manifest: l.Manifest, settings: l.Settings, changed: l.Changed}
	for {
		began := time.Now()
		round, retry, err := l.round(ctx, b)
		if errors.Is(err, store.ErrNotFound) {
			err = ErrRemoved
		}

		quiet := false
		if ctx.Err() != nil && (err != nil || round.Err != nil) {
			return round.Status, ctx.Err() // the round was interrupted: this loop does not retry it
		}
		if err == nil {
			l.Report(round)
			quiet, err = l.isQuiet(&round)
		}

		if failed, err := l.endure(ctx, began, err); quiet || err != nil {
			return round.Status, err
		} else if failed {
			continue
		}

		if ctx.Err() != nil {
			return round.Status, ctx.Err()
		}
		l.wait(ctx, round.again, retry)
	}
}

// round plans once and carries out the plan.
func (l *Loop) round(ctx context.Context, b *backend) (Round, bool, error) {
	stored, err := l.Store.Job(l.UID)
	if err == nil && !stored.Deleted.IsZero() {
		err = ErrRemoved
	}
	if err != nil {
		return Round{}, false, err
	}

	pods, err := l.pods()
	if err != nil {
		return Round{}, false, err
	}
	// The clock is read after the store. Otherwise the end of a pod could be later than now.
	now, err := Now(l.Store, l.Clock)
	if err != nil {
		return Round{}, false, err
	}

	b.now = now
	snapshot := l.snapshot(&stored, pods, now)
	plan, err := job.Reconcile(snapshot)
	if err != nil {
		return Round{}, false, fmt.Errorf("job %s: %w", stored.Key(), err)
	}

	conclusion, applyErr := jobapply.Executor{}.Apply(ctx, b, &plan)
	l.settled = applyErr == nil && plan.Verdict == job.Verdict{}
	if err := l.Store.Conclude(l.UID, conclusion.Memory, conclusion.Events, now); err != nil {
		return Round{}, false, err
	}
	if stored, err = l.Store.Job(l.UID); err != nil {
		return Round{}, false, err
	}

	round := Round{
		Job: &stored, Spec: &l.Manifest.Spec, Status: stored.Status, Events: conclusion.Events,
		Notes: plan.Notes, Waits: plan.Waits, Requeue: plan.Requeue, again: conclusion.Requeue.At, Now: now,
		Err: applyErr,
	}

	for i := range pods {
		if len(pods[i].State.Containers) == 0 && !pods[i].Finished() {
			round.Pending++
		}
	}
	return round, conclusion.Retry, nil
}

// pods returns the pods that a plan needs. With a podFailurePolicy these may include failed pods
// that are already accounted for. If a pod has matched FailJob, and another pod could not be
// deleted, the round accounts for the first pod and does not declare the end. So a later round must
// see that pod again (J21). That is possible after a start, after an error, and while the job is
// ending.
func (l *Loop) pods() ([]store.Pod, error) {
	if l.settled || l.Manifest.Spec.PodFailurePolicy == nil {
		return l.Store.OpenPods(l.UID)
	}
	return l.Store.OpenOrFailedPods(l.UID)
}

func (l *Loop) snapshot(stored *store.Job, pods []store.Pod, now time.Time) job.Snapshot {
	spec := l.Manifest.Spec
	if stored.Held {
		// Ctrl-C suspends the job as spec.suspend does. So the rules of suspension define what
		// happens to pods and counters (J28, J39).
		suspend := true
		spec.Suspend = &suspend
	}
	views := make([]job.Pod, len(pods))
	for i := range pods {
		views[i] = pods[i].View()
	}
	return job.Snapshot{
		Job: job.Job{Namespace: stored.Namespace, Name: stored.Name, UID: stored.UID,
			CreationTimestamp: stored.Created, Spec: spec, Status: stored.Status},
		// The store contains all writes of earlier rounds, so the snapshot is Consistent.
		Pods: views, Now: now, Memory: stored.Memory, Consistent: true, Options: l.Options,
	}
}

// isQuiet reports whether nothing more can happen to the job: it has ended or is suspended, and no
// pod needs work.
func (l *Loop) isQuiet(r *Round) (bool, error) {
	held := r.Job.Held || l.Manifest.Spec.Suspend != nil && *l.Manifest.Spec.Suspend
	suspended := held && r.Status.Condition(job.ConditionSuspended).Status == job.ConditionTrue
	if r.Status.Finished() == "" && !suspended {
		return false, nil
	}
	pods, err := l.Store.OpenPods(l.UID)
	return err == nil && len(pods) == 0, err
}
