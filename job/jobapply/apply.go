package jobapply

import (
	"context"
	"errors"
	"fmt"

	"github.com/batchplan/batchplan/internal/step"
	"github.com/batchplan/batchplan/job"
)

// Backend is what a plan is carried out on. Its methods are called concurrently,
// except for WriteStatus and for an [Executor] with Parallel 1.
//
// An error means that the write did not take effect, or that nobody knows. Three
// errors say more: [ErrGone], [ErrStillTracked] and [ErrNamespaceTerminating].
type Backend interface {
	// Adopt makes the job the pod's controller and adds the finalizer, after a
	// fresh look at the job (J6). A pod that has a controller by now is left as it
	// is: adding the finalizer again could count it again.
	Adopt(ctx context.Context, pod job.PodRef) error
	// Release removes the controller reference and the finalizer (J6).
	Release(ctx context.Context, pod job.PodRef) error
	// Delete deletes the pod, on condition of its UID. With d.UntrackFirst it
	// removes the finalizer before, in one transaction if it can, on condition that
	// the pod is still as the plan saw it (d.ResourceVersion, where that is not
	// empty): a pod that has succeeded since would be lost (JI9).
	Delete(ctx context.Context, d job.Deletion) error
	// Create creates a pod with the finalizer and returns its name and UID.
	Create(ctx context.Context, c job.Creation) (job.PodRef, error)
	// Untrack removes the finalizer, on condition of the pod's UID.
	Untrack(ctx context.Context, pod job.PodRef) error
	// WriteStatus replaces the job's status, on condition of the version that the
	// snapshot was taken from or that the last WriteStatus of the round has made.
	WriteStatus(ctx context.Context, s job.Status) error
}

// ErrGone is the error of Delete, Untrack and Release for a pod that does not
// exist any more: as good as done.
var ErrGone = errors.New("the pod is gone")

// ErrStillTracked is the error of Delete when the finalizer could not be removed:
// the pod was not deleted, and no event is to say so.
var ErrStillTracked = errors.New("the finalizer is still there")

// ErrNamespaceTerminating is the error of Create where no pod can be created any
// more: nothing to retry (J34).
var ErrNamespaceTerminating = step.ErrNamespaceTerminating

// Expectations is told of writes before they are made, so that events which arrive
// while they are under way find the record (E2, E3). An expectations.Tracker fits
// once the job's key, and for Expect the time, are bound.
type Expectations interface {
	// Expect replaces the record of creations and deletions still to be observed.
	Expect(creations, deletions int)
	// Lower takes off what failed or was skipped.
	Lower(creations, deletions int)
}

// Executor carries out plans. The zero value is ready to use, and safe for
// concurrent use.
type Executor struct {
	// Parallel is the most writes that run at once; 0 means DefaultParallel.
	Parallel int
	// Expectations may be nil: then the next Memory of the plan is the only record.
	Expectations Expectations
}

// DefaultParallel is the number of writes at once of an Executor with Parallel 0.
const DefaultParallel = 16

// Apply carries out the plan and returns what became of each write. The outcome
// is true whatever the error; the error joins what went wrong, step by step.
//
// A cancelled context starts no further write: what was not tried says so in the
// outcome, and the next round takes it up.
func (e Executor) Apply(ctx context.Context, b Backend, plan *job.Plan) (job.Outcome, error) {
	r := &round{Executor: e, ctx: ctx, backend: b, plan: plan}
	for _, step := range [...]func(*round) error{
		(*round).claim,
		(*round).remove,
		(*round).create,
		(*round).record,
		(*round).untrack,
		(*round).settle,
	} {
		if err := step(r); err != nil {
			r.errs = append(r.errs, err)
		}
		if r.stopped {
			break
		}
	}
	return r.outcome, errors.Join(r.errs...)
}

// round is one Apply under way.
type round struct {
	Executor
	ctx     context.Context
	backend Backend
	plan    *job.Plan

	outcome job.Outcome
	errs    []error
	// stopped is set when the steps that follow would build on a write that did
	// not take effect.
	stopped bool
}

// claim adopts and releases. The plan assumed that all of it succeeds (J6).
func (r *round) claim() error {
	if len(r.plan.Adopt)+len(r.plan.Release) == 0 {
		return nil
	}
	results := newResults(len(r.plan.Adopt) + len(r.plan.Release))
	r.each(results.len(), func(i int) {
		if i < len(r.plan.Adopt) {
			results.set(i, r.backend.Adopt(r.ctx, r.plan.Adopt[i]))
			return
		}
		err := r.backend.Release(r.ctx, r.plan.Release[i-len(r.plan.Adopt)])
		if errors.Is(err, ErrGone) {
			err = nil
		}
		results.set(i, err)
	})
	r.outcome.Claimed = results.all()
	r.stopped = r.outcome.Claimed != job.Done
	return results.err(r.ctx, "claim pods")
}

// remove deletes pods. A failure does not stop the others.
func (r *round) remove() error {
	deletions := r.plan.Delete
	if len(deletions) == 0 {
		return nil
	}
	ending := r.plan.Verdict.Type != "" // then an older record must stay
	if !ending {
		r.expect(0, len(deletions))
	}
	results := newResults(len(deletions))
	r.each(len(deletions), func(i int) { results.set(i, r.backend.Delete(r.ctx, deletions[i])) })
	r.outcome.Deleted = results.effects()
	if !ending {
		r.lower(0, len(deletions)-results.count(job.Done))
	}
	return results.err(r.ctx, "delete pods")
}

// create creates in batches of 1, 2, 4, ...: a cause that stops all, such as a
// quota, shows on the first, and the rest is skipped (J34).
func (r *round) create() error {
	creations := r.plan.Create
	if len(creations) == 0 {
		return nil
	}
	r.expect(len(creations), 0)
	results := newResults(len(creations))
	for start, size := 0, 1; start < len(creations); start, size = start+size, 2*size {
		size = min(size, len(creations)-start)
		r.each(size, func(i int) {
			pod, err := r.backend.Create(r.ctx, creations[start+i])
			results.setCreated(start+i, pod, err)
		})
		if results.count(job.Refused) > 0 {
			results.refuseRest()
		}
		if results.count(job.Done) < start+size {
			break
		}
	}
	r.outcome.Created = results.effects()
	r.lower(len(creations)-r.plan.Expected(r.outcome.Created), 0)
	return results.err(r.ctx, "create pods")
}

// record writes the first status; what follows relies on it (J35).
func (r *round) record() error {
	recording := r.plan.Record(r.outcome)
	if !recording.Write {
		return nil
	}
	var err error
	r.outcome.Recorded, err = r.write(recording.Status)
	r.stopped = r.outcome.Recorded != job.Done
	return err
}

// untrack removes the finalizers of the pods that are now accounted for.
func (r *round) untrack() error {
	pods := r.plan.Record(r.outcome).Untrack
	if len(pods) == 0 {
		return nil
	}
	results := newResults(len(pods))
	r.each(len(pods), func(i int) { results.set(i, r.backend.Untrack(r.ctx, pods[i].PodRef)) })
	for _, effect := range results.effects() {
		r.outcome.Untracked = append(r.outcome.Untracked, effect.Result)
	}
	return results.err(r.ctx, "remove finalizers")
}

// settle writes the second status.
func (r *round) settle() error {
	settlement := r.plan.Settle(r.outcome)
	if !settlement.Write {
		return nil
	}
	var err error
	r.outcome.Settled, err = r.write(settlement.Status)
	return err
}

func (r *round) write(s job.Status) (job.Result, error) {
	if err := r.ctx.Err(); err != nil {
		return job.NotTried, fmt.Errorf("write status: %w", err)
	}
	if err := r.backend.WriteStatus(r.ctx, s); err != nil {
		return job.Unsuccessful, fmt.Errorf("write status: %w", err)
	}
	return job.Done, nil
}

func (r *round) expect(creations, deletions int) {
	if r.Expectations != nil {
		r.Expectations.Expect(creations, deletions)
	}
}

func (r *round) lower(creations, deletions int) {
	if r.Expectations != nil && creations+deletions > 0 {
		r.Expectations.Lower(creations, deletions)
	}
}
