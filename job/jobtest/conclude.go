package jobtest

import (
	"context"

	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// pending is the last plan with the answers to its writes. Here the name of a write is the UID of
// its pod, empty for a creation.
type pending = life.Pending[job.Plan, error]

// conclude computes the time at which the program must plan again, and its memory until then. A
// round without a plan changes neither.
func (e *Env) conclude() {
	if e.pending == nil {
		return
	}
	end, _ := jobapply.Executor{Parallel: 1}.Apply(context.Background(), replay{e.pending}, &e.pending.Plan)
	e.pending, e.due, e.memory = nil, e.life.Due(end.Requeue.At, end.Retry), &end.Memory
}

// unknown notes that it is no longer known when a round is due.
func (e *Env) unknown() { e.pending, e.due, e.memory = nil, life.Due{}, nil }

// replay is a backend that repeats the answers of the program's backend in this round.
type replay struct{ *pending }

func (r replay) answer(verb world.Verb, pod job.UID) error {
	err, made := r.Answer(world.Write{Verb: verb, Name: string(pod)})
	if !made {
		return life.ErrNotMade
	}
	return err
}

func (r replay) Adopt(_ context.Context, p job.Claim) error     { return r.answer(world.Adopt, p.UID) }
func (r replay) Release(_ context.Context, p job.Claim) error   { return r.answer(world.Release, p.UID) }
func (r replay) Delete(_ context.Context, d job.Deletion) error { return r.answer(world.Delete, d.UID) }
func (r replay) Untrack(_ context.Context, u job.Untracking) error {
	return r.answer(world.Untrack, u.UID)
}
func (r replay) WriteStatus(context.Context, job.Status) error {
	return r.answer(world.WriteStatus, "")
}
func (r replay) WriteGroup(context.Context, jobgroup.Write) (job.UID, error) {
	return "", r.answer(world.WriteGroup, "")
}
func (r replay) Create(context.Context, job.Creation) (job.PodRef, error) {
	return job.PodRef{}, r.answer(world.Create, "")
}
