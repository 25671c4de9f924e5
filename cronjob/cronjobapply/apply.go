package cronjobapply

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/step"
	"github.com/batchplan/batchplan/job"
)

// Backend makes the reads and writes of one CronJob's plans. Get and Delete are called
// concurrently, except by an [Executor] with Parallel 1.
//
// An error means that the write did not take effect, or that this is unknown. Three errors are more
// specific: [ErrGone], [ErrExists] and [ErrNamespaceTerminating].
type Backend interface {
	Children
	// WriteStatus replaces the CronJob's status, on condition of the version that
	// the snapshot was taken from.
	WriteStatus(ctx context.Context, s cronjob.Status) error
}

// Children is the part of a [Backend] that reads and writes jobs. It has nothing to do with
// schedules, so it also serves other parents of named jobs (examples/jobset).
type Children interface {
	// Get reads the job of that name in the parent's namespace, from the source of truth and not
	// from a cache (C5, C14). The error is ErrGone if there is none.
	Get(ctx context.Context, name string) (Job, error)
	// Delete deletes the job with its pods, on condition of its UID. With
	// d.Foreground the job stays until its pods are gone.
	Delete(ctx context.Context, d cronjob.Deletion) error
	// Create creates the job from the template with the name, labels and annotations of the plan,
	// and the parent as its controller. If a job of that name exists, no matter who owns it, the
	// error is ErrExists and that job is not changed: the name is the lock of the run (C13).
	Create(ctx context.Context, c cronjob.Creation) (Job, error)
}

// Observer is a Backend that needs the results of a round, for example to add conditions to the
// status.
type Observer interface {
	Backend
	// Executed is called once in a round, after the plan's reads and writes, with their results.
	// The status write follows, if one is needed.
	Executed(cronjob.Writes)
}

// Job is a job that a backend has found or created.
type Job struct {
	// Reference goes into the list of active jobs. The UID is required; kind, apiVersion, namespace
	// and name are filled in if they are empty.
	cronjob.Reference
	// Controller is the UID of the job's controller. It is empty for a job without a controller.
	// Create need not set it.
	Controller job.UID
	// CreationTimestamp is for the metric (C16).
	CreationTimestamp time.Time
}

// ErrGone is the error of Get for a name that no job has, and of Delete for a job that does not
// exist any more. Neither is a failure.
var ErrGone = errors.New("the job is gone")

// ErrExists is the error of Create for a name that a job has. The executor then finds out who owns
// the job (C14).
var ErrExists = errors.New("a job of that name exists")

// ErrNamespaceTerminating is the error of Create if no job can be created any more, so that
// retrying is useless. Package job/jobapply has the same error.
var ErrNamespaceTerminating = step.ErrNamespaceTerminating

// ErrAgain is the error of Apply if no call failed, but a run was not started: a look-up has found
// a job that may still be running, and the snapshot does not show that job (CI15).
var ErrAgain = errors.New("plan again soon: a run waits for a job that only a look-up has found")

// Executor carries out plans. The zero value is ready to use, and safe for
// concurrent use.
type Executor struct {
	// Parallel limits the reads or deletions that run concurrently; 0 means a default.
	// Creations are made one by one, since a round has few.
	Parallel int
}

// Apply carries out the plan and concludes it. The conclusion is valid even if there is an error.
// The error joins the errors of all steps; it is not nil if and only if Retry of the conclusion is
// set.
//
// After ctx is cancelled, no further read or write starts. Their results are ResultNotTried, and
// the next round plans them again.
func (e Executor) Apply(ctx context.Context, b Backend, plan *cronjob.Plan) (cronjob.Conclusion, error) {
	var writes cronjob.Writes
	var errs []error
	if len(plan.Verify)+len(plan.Delete)+len(plan.Create) > 0 { // most rounds have nothing to do
		writes, errs = e.carryOut(ctx, b, plan)
	}
	if b, ok := step.As[Observer](b); ok {
		b.Executed(writes)
	}

	settlement := plan.Settle(writes)
	settled, err := write(ctx, b, &settlement)
	if err != nil {
		errs = append(errs, err)
	}

	end := settlement.Conclude(settled)
	if end.Retry && len(errs) == 0 {
		errs = append(errs, ErrAgain)
	}
	return end, errors.Join(errs...)
}

// carryOut makes the reads and writes of the plan, apart from the status.
func (e Executor) carryOut(ctx context.Context, b Backend, plan *cronjob.Plan) (writes cronjob.Writes, errs []error) {
	r := round{Executor: e, ctx: ctx, backend: b, plan: plan}
	writes.Verified = r.verify()
	writes.Deleted = r.remove(writes.Verified)
	if plan.MayCreate(writes) {
		writes.Created = r.create()
	}
	return writes, r.errs
}

// round is one call of carryOut.
type round struct {
	Executor
	ctx     context.Context
	backend Backend
	plan    *cronjob.Plan
	errs    []error
}

// note keeps an error for Apply to return.
func (r *round) note(err error) {
	if err != nil {
		r.errs = append(r.errs, err)
	}
}

// verify looks up active jobs that may be gone. If the job of that name has another UID, it is a
// later one, and the job of the list is gone (C5).
func (r *round) verify() []cronjob.Reply {
	refs := r.plan.Verify
	if len(refs) == 0 {
		return nil
	}

	looks, on := step.New[cronjob.Reply](len(refs)), *r // the call must not move r to the heap
	looks.Each(r.ctx, r.Parallel, func(i int) (cronjob.Reply, error) {
		found, err := on.look(refs[i].Name)
		switch {
		case errors.Is(err, ErrGone), err == nil && !on.isMeant(found, refs[i].UID):
			return cronjob.Reply{Result: cronjobreason.ResultGone}, nil
		case err != nil:
			return cronjob.Reply{Result: cronjobreason.ResultUnsuccessful, Error: err.Error()}, err
		}
		return cronjob.Reply{Result: cronjobreason.ResultDone}, nil
	})

	r.note(looks.Err(r.ctx, "look up jobs"))
	return looks.Effects
}

// isMeant reports whether a look-up has found the right job: the one with the UID or, if the UID is
// not known, any job that the CronJob controls (CI15).
func (r *round) isMeant(found Job, uid job.UID) bool {
	if uid == "" {
		return found.Controller == r.plan.CronJobUID
	}
	return found.UID == uid
}

// remove deletes jobs, apart from those that are gone already. A failure does not stop
// the others.
func (r *round) remove(verified []cronjob.Reply) []cronjob.Effect {
	deletions := r.plan.Delete
	if len(deletions) == 0 {
		return nil
	}
	writes := step.New[cronjob.Effect](len(deletions))

	gone, ctx, b := r.gone(verified), r.ctx, r.backend
	writes.Each(r.ctx, r.Parallel, func(i int) (cronjob.Effect, error) {
		if gone[deletions[i].UID] {
			return cronjob.Effect{Result: cronjobreason.ResultGone}, nil
		}

		err := b.Delete(ctx, deletions[i])
		if errors.Is(err, ErrGone) {
			return cronjob.Effect{Result: cronjobreason.ResultGone}, nil
		}
		return effectOf(Job{}, err)
	})

	r.note(writes.Err(r.ctx, "delete jobs"))
	return writes.Effects
}

// gone returns the UIDs of the jobs that verify has just found gone. They need no deletion, so the
// backend is not called for them.
func (r *round) gone(verified []cronjob.Reply) map[job.UID]bool {
	var uids map[job.UID]bool
	for i, look := range verified {
		if look.Result == cronjobreason.ResultGone {
			if uids == nil {
				uids = make(map[job.UID]bool)
			}
			uids[r.plan.Verify[i].UID] = true // a job without a UID is never deleted
		}
	}
	return uids
}

// create creates jobs. They do not depend on each other, so a failure does not stop the others. A
// namespace that is being deleted stops them.
func (r *round) create() []cronjob.Effect {
	creations := r.plan.Create
	if len(creations) == 0 {
		return nil
	}

	writes := step.New[cronjob.Effect](len(creations))
	for i := 0; i < len(creations) && r.ctx.Err() == nil; i++ {
		effect, err := r.start(&creations[i])
		writes.Set(i, effect, err)
		if effect.Result == cronjobreason.ResultRefused {
			writes.Rest(cronjob.Effect{Result: cronjobreason.ResultRefused})
			break
		}
	}

	r.note(writes.Err(r.ctx, "create jobs"))
	return writes.Effects
}

// effectOf returns the effect and the error of a write. The error must not be one of the three
// specific errors.
func effectOf(j Job, err error) (cronjob.Effect, error) {
	if err != nil {
		return cronjob.Effect{Result: cronjobreason.ResultUnsuccessful, Error: err.Error()}, err
	}
	done := cronjob.Effect{
		Result:            cronjobreason.ResultDone,
		Job:               j.Reference,
		CreationTimestamp: j.CreationTimestamp,
	}
	return done, nil
}

// start creates one job, or finds out whose job has its name (C14).
func (r *round) start(c *cronjob.Creation) (cronjob.Effect, error) {
	made, err := r.backend.Create(r.ctx, *c)
	switch {
	case errors.Is(err, ErrExists):
		return r.whose(c.Name)
	case errors.Is(err, ErrNamespaceTerminating):
		return cronjob.Effect{Result: cronjobreason.ResultRefused, Error: err.Error()}, nil
	}
	return effectOf(identified(made, c.Name, err))
}

// whose returns the effect of a creation that found an existing job. The effect depends on who owns
// that job.
func (r *round) whose(name string) (cronjob.Effect, error) {
	found, err := r.look(name)
	if errors.Is(err, ErrGone) { // the next round creates the job
		err = fmt.Errorf("%q existed, and is gone by now", name)
	}

	effect, err := effectOf(found, err)
	switch {
	case err != nil:
		effect.Error = "" // the creation has not failed
	case found.Controller == r.plan.CronJobUID:
		effect.Result = cronjobreason.ResultAlreadyExists
	default:
		effect.Result = cronjobreason.ResultNameTaken
	}
	return effect, err
}

func (r *round) look(name string) (Job, error) {
	if err := r.ctx.Err(); err != nil {
		return Job{}, err
	}
	found, err := r.backend.Get(r.ctx, name)
	return identified(found, name, err)
}

// identified returns an error for a job without a UID, which could never be recognised in the
// active list.
func identified(j Job, name string, err error) (Job, error) {
	if err == nil && j.UID == "" {
		err = fmt.Errorf("the backend names no UID for %q", name)
	}
	return j, err
}

// write writes the status, the one status write of a round (C15).
func write(ctx context.Context, b Backend, s *cronjob.Settlement) (cronjob.Reply, error) {
	if !s.Write {
		return cronjob.Reply{}, nil
	}
	if err := ctx.Err(); err != nil {
		return cronjob.Reply{}, fmt.Errorf("write status: %w", err)
	}
	if err := b.WriteStatus(ctx, s.Status); err != nil {
		failed := cronjob.Reply{Result: cronjobreason.ResultUnsuccessful, Error: err.Error()}
		return failed, fmt.Errorf("write status: %w", err)
	}
	return cronjob.Reply{Result: cronjobreason.ResultDone}, nil
}
