package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

var errLost, errChanged = errors.New("another worker has taken it over"), errors.New("it has changed since it was read")

// round is one round of a job, and its jobapply.Backend. The writes take effect only while the
// worker holds the job. Otherwise a worker that was paused, and that others took for dead, could
// create a pod that its successor has already created.
type round struct {
	*Worker
	snapshot job.Snapshot
	failures int
}

// backend is the part of a round that tests replace.
type backend interface {
	jobapply.Backend
	giveBack(context.Context, job.Conclusion, error) error
}

// Plan makes a round of the job that is due first, and reports whether there was one.
func (w *Worker) Plan(ctx context.Context) (bool, error) {
	r, err := w.claim(ctx)
	if err != nil || r.snapshot.Job.UID == "" {
		return false, err
	}

	var b backend = r
	end := job.Conclusion{Status: r.snapshot.Job.Status, Memory: r.snapshot.Memory}
	plan, err := job.Reconcile(r.snapshot)
	if err == nil {
		if w.around != nil {
			b = w.around(r, &plan)
		}
		end, err = jobapply.Executor{Parallel: 1}.Apply(ctx, b, &plan)
	}

	for _, e := range end.Events {
		slog.Info(e.Message, "job", r.snapshot.Job.Name, "reason", e.Reason)
	}
	if err = errors.Join(err, b.giveBack(ctx, end, err)); err != nil {
		err = fmt.Errorf("job %s: %w", r.snapshot.Job.UID, err)
	}
	return true, err
}

// claim takes the job that is due first, and reads it. If a worker could not give a job back, it
// still holds the job and claims it again.
func (w *Worker) claim(ctx context.Context) (*round, error) {
	var memory []byte
	r := &round{Worker: w, snapshot: job.Snapshot{Options: w.Options, Consistent: true}}
	err := w.within(ctx, func(t *tx) {
		columns := func(j *job.Job) []any { return []any{asJSON{j}, &memory, &r.failures} }
		for _, r.snapshot.Job = range list(t, columns, `UPDATE jobs SET claim = $1, due = 0, woken = FALSE
			WHERE uid = (SELECT uid FROM jobs WHERE claim IN ('', $1) AND due <= $2 ORDER BY due LIMIT 1`+t.skip+`)
			RETURNING job, memory, failures`, w.ID, t.now.UnixMilli()) {
			r.snapshot.Now = t.now
			r.snapshot.Pods = list(t, pod, "SELECT pod FROM pods WHERE job = $1 ORDER BY uid", r.snapshot.Job.UID)
		}
	})
	_ = r.snapshot.Memory.UnmarshalJSON(memory) // a memory that cannot be read counts as lost
	return r, err
}

// held runs a transaction that has locked the job. It fails if the worker does not hold the job.
func (r *round) held(ctx context.Context, do func(*tx)) error {
	return r.within(ctx, func(t *tx) {
		if t.exec("UPDATE jobs SET claim = claim WHERE uid = $1 AND claim = $2", r.snapshot.Job.UID, r.ID) == 0 {
			t.fail(errLost)
		}
		do(t)
	})
}

// giveBack ends the round: it stores the memory and the time of the next round. It deletes a job
// that has expired, and the row of a deleted job that has no more pods.
func (r *round) giveBack(ctx context.Context, end job.Conclusion, failed error) error {
	j, now, failures := r.snapshot.Job, r.snapshot.Now, 0
	j.Status = end.Status
	expired, due, _ := job.Expire(&j, r.snapshot.Options, now) // fails only for times that no status here has
	switch {
	case failed != nil:
		failures = r.failures + 1
		due = now.Add(backoff.Retry().Delay(failures))
	case !end.Requeue.At.IsZero():
		due = end.Requeue.At
	case due.IsZero():
		due = time.UnixMilli(math.MaxInt64) // only a change makes it due
	}

	err := r.held(ctx, func(t *tx) {
		t.exec("UPDATE jobs SET claim = '', memory = $2, failures = $3, due = CASE WHEN woken THEN 0 ELSE CAST($4 AS BIGINT) END WHERE uid = $1",
			j.UID, asJSON{end.Memory}, failures, due.UnixMilli())
		if !j.DeletionTimestamp.IsZero() {
			t.report(j.UID)
			t.exec("DELETE FROM jobs WHERE uid = $1 AND NOT EXISTS (SELECT 1 FROM pods WHERE job = $1)", j.UID)
		}
	})

	if expired && err == nil {
		err = r.Store.Delete(ctx, j.UID)
	}
	return err
}

func (r *round) Create(ctx context.Context, c job.Creation) (job.PodRef, error) {
	id := r.newID()
	ref := job.PodRef{Name: c.NamePrefix + strings.ToLower(id[:6]), UID: job.UID(id)}
	return ref, r.held(ctx, func(t *tx) {
		t.exec("INSERT INTO pods (uid, job, pod, created, phase) VALUES ($1, $2, $3, $4, 'Pending')",
			ref.UID, r.snapshot.Job.UID, asJSON{c.Pod(ref.Name, ref.UID, t.now)}, t.now.UnixMilli())
	})
}

func (r *round) Delete(ctx context.Context, d job.Deletion) error {
	return r.held(ctx, func(t *tx) {
		t.changePod(d.UID, func(p *job.Pod) {
			if d.UntrackFirst && p.Detail.ResourceVersion != d.ResourceVersion {
				t.fail(errChanged) // the pod may have succeeded
			}
			p.Untracked = p.Untracked || d.UntrackFirst
			t.deletePod(p)
		})
	})
}

func (r *round) Untrack(ctx context.Context, u job.Untracking) error {
	return r.held(ctx, func(t *tx) { t.changePod(u.UID, func(p *job.Pod) { p.Untracked = true }) })
}

// WriteStatus fails if a user has changed the job since it was read.
func (r *round) WriteStatus(ctx context.Context, s job.Status) error {
	return r.held(ctx, func(t *tx) {
		t.changeJob(r.snapshot.Job.UID, func(j *job.Job) {
			if j.Version != r.snapshot.Job.Version {
				t.fail(errChanged)
			}
			j.Status = s
			r.snapshot.Job.Version++ // for the second status of the round; after an error there is none
		})
	})
}
