package jobtest

import (
	"cmp"
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
)

// Queue is a program that plans several jobs from a queue, and the stores of these jobs. The
// program reads the stores themselves: it has no Cache.
type Queue struct {
	// Stores are the test's views of the store, one for the job of each Env. Their jobs have
	// different names.
	Stores []Store
	// Start starts the program, as in a Subject. A starting program finds out by itself which jobs
	// exist. Each call of the program works until nothing is due, and returns the time at which
	// something is due next. Writes for a job go through the Env of that job.
	Start func(forget bool) Program
	// Changed reports a change of the job of the i-th Env that the program has not made itself. It
	// is called like the handler of a watch, even in the middle of a round of this or another job.
	// It must return without a write.
	Changed func(i int)
	// OneWriter and Unconditional are as in a Subject.
	OneWriter, Unconditional bool
	// Close, if not nil, is called when the life is over.
	Close func()
}

// TestQueue is [TestBackend] for a program with a queue: a life has three jobs at the same time,
// each with an Env of its own. It finds faults that a test of one job cannot: wake-ups that the
// queue loses, and jobs that hold up other jobs.
func TestQueue(t testing.TB, open func([]*Env) Queue) {
	t.Helper()
	Test{}.RunQueue(t, open)
}

// RunQueue runs the test of a queue.
func (c Test) RunQueue(t testing.TB, open func([]*Env) Queue) {
	t.Helper()
	specs := cmp.Or(c.Specs, jobgen.Specs())
	life.Check(t, func(l *life.Life) {
		options := drawLimits(l.T)
		var all []*Env
		for _, name := range []string{"a", "b", "c"} {
			e := newEnv(l, options)
			e.name = name
			all = append(all, e)
		}

		q := queue{Queue: open(all), all: all}
		if q.Close != nil {
			defer q.Close()
		}
		q.live(l, specs)
	})
}

// queue is a life of several jobs.
type queue struct {
	Queue
	all     []*Env
	program *life.Program
}

func (q *queue) live(l *life.Life, specs *rapid.Generator[job.Spec]) {
	q.program = &life.Program{
		Life:       l,
		Start:      q.start,
		Busy:       "L6",
		Stuck:      "L9",
		CheckStall: q.checkStall,
		Due:        q.due,
		Before:     func() { q.each(func(e *Env) { e.edited = false }) },
		After: func(failed bool) {
			q.each(func(e *Env) {
				if e.truth.Object.UID != "" { // it was not removed
					e.look(world.Write{}, "")
					e.purgeAfter(failed)
				}
			})
		},
	}

	for i, e := range q.all {
		e.all, e.program, e.changed = q.all, q.program, func() { q.Changed(i) }
		e.subject = Subject{Store: q.Stores[i], OneWriter: q.OneWriter, Unconditional: q.Unconditional}
	}

	q.program.Run(false)
	for n := range rapid.IntRange(1, 2).Draw(l.T, "jobs of a name") {
		q.each(func(e *Env) { e.create(specs.Draw(l.T, "spec"), n) })
		q.program.Happened()
		l.T.Repeat(q.all[0].steps())
		q.each(func(e *Env) {
			if e.truth.Object.UID != "" {
				e.comeToRest()
				e.remove()
			}
		})
	}
}

func (q *queue) each(do func(*Env)) {
	for _, e := range q.all {
		do(e)
	}
}

func (q *queue) start(forget bool) func(context.Context) (time.Time, error) {
	q.each(func(e *Env) {
		e.unknown()
		e.history.Restarted = e.history.Restarted || forget
	})
	return q.Start(forget)
}

// due returns the first time at which a round is due for any job.
func (q *queue) due() (first life.Due) {
	q.each(func(e *Env) {
		e.conclude()
		first = first.First(e.due)
	})
	return first
}

// checkStall checks that there is nothing to do for any job (L9).
func (q *queue) checkStall() {
	q.each(func(e *Env) {
		if e.truth.Object.UID != "" {
			e.checkIdle()
		}
	})
}
