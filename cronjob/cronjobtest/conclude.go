package cronjobtest

import (
	"context"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/internal/world"
)

// pending is the last plan with the answers to its calls.
type pending = life.Pending[cronjob.Plan, answer]

type answer struct {
	job cronjobapply.Job
	err error
}

// get is the call that is not a write.
const get world.Verb = "get"

// conclude computes when the program must run again, and its memory. A round without a plan changes nothing.
func (e *Env) conclude() {
	if e.pending == nil {
		return
	}
	end, _ := cronjobapply.Executor{Parallel: 1}.Apply(context.Background(), replay{e.pending}, &e.pending.Plan)
	e.pending, e.due, e.memory = nil, e.life.Due(end.Requeue.At, end.Retry), end.Memory
}

// replay is a backend that repeats the answers of the program's backend in this round.
type replay struct{ *pending }

func (r replay) answer(verb world.Verb, name string) (cronjobapply.Job, error) {
	a, made := r.Answer(world.Write{Verb: verb, Name: name})
	if !made {
		return cronjobapply.Job{}, life.ErrNotMade
	}
	return a.job, a.err
}

func (r replay) Get(_ context.Context, name string) (cronjobapply.Job, error) {
	return r.answer(get, name)
}

func (r replay) Create(_ context.Context, n cronjob.Creation) (cronjobapply.Job, error) {
	return r.answer(world.Create, n.Name)
}

func (r replay) Delete(_ context.Context, d cronjob.Deletion) error {
	_, err := r.answer(world.Delete, d.Name)
	return err
}

func (r replay) WriteStatus(context.Context, cronjob.Status) error {
	_, err := r.answer(world.WriteStatus, "")
	return err
}
