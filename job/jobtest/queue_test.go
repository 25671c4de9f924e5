package jobtest_test

import (
	"context"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobtest"
)

// dispatcher is the last backend of the tutorial: a program with a queue of several jobs.
type dispatcher struct {
	bug      bug
	envs     []*jobtest.Env
	stores   []*store
	looks    []jobtest.Look
	memories []job.Memory
	due      map[int]time.Time // the time at which a job is due, by its number
	working  int               // the job that is being planned; -1 for none
}

func openQueue(b bug) func([]*jobtest.Env) jobtest.Queue {
	return func(envs []*jobtest.Env) jobtest.Queue {
		d := &dispatcher{bug: b, envs: envs, memories: make([]job.Memory, len(envs)), working: -1}
		q := jobtest.Queue{Start: d.start, Changed: d.changed}
		for i, env := range envs {
			s := &store{env: env, prefix: string(rune('a' + i))}
			d.stores, d.looks = append(d.stores, s), append(d.looks, s.Look)
			q.Stores = append(q.Stores, s)
		}
		return q
	}
}

// openPurgedQueue returns a queue on a service that purges pods and has no conditional writes.
func openPurgedQueue(b bug) func([]*jobtest.Env) jobtest.Queue {
	return func(envs []*jobtest.Env) jobtest.Queue {
		d := &dispatcher{envs: envs, memories: make([]job.Memory, len(envs)), working: -1}
		q := jobtest.Queue{Start: d.start, Changed: d.changed, Unconditional: true}
		for i, env := range envs {
			s := newTagged(env, b)
			s.prefix = string(rune('a' + i))
			d.stores, d.looks = append(d.stores, s.store), append(d.looks, s.Look)
			q.Stores = append(q.Stores, s)
		}
		return q
	}
}

func (d *dispatcher) start(forget bool) jobtest.Program {
	if forget {
		clear(d.memories)
	}
	d.due = map[int]time.Time{}
	for i, s := range d.stores {
		if s.job.UID != "" && (i == 0 || d.bug != firstAlone) {
			d.due[i] = time.Time{}
		}
	}
	return d.work
}

// changed puts a job into the queue immediately.
func (d *dispatcher) changed(i int) {
	if d.bug != wakeUpLost || i != d.working {
		d.due[i] = time.Time{}
	}
}

// work plans for the jobs that are due, in turns.
func (d *dispatcher) work(ctx context.Context) (next time.Time, err error) {
	for range 100 {
		i := d.next()
		if i < 0 {
			return time.Time{}, nil
		}
		if at := d.due[i]; at.After(d.envs[i].Now()) {
			return at, nil
		}

		delete(d.due, i)
		d.working = i
		again, err := d.round(ctx, i)
		d.working = -1

		switch {
		case err != nil && d.bug == failureDropped:
		case err != nil:
			d.wait(i, d.envs[i].Now().Add(time.Second))
		default:
			d.wait(i, again)
		}
	}
	return d.envs[0].Now(), nil
}

// next returns the job that is due first, or -1 if there is none.
func (d *dispatcher) next() int {
	first := -1
	for i := range d.stores {
		if at, ok := d.due[i]; ok && (first < 0 || at.Before(d.due[first])) {
			first = i
		}
	}
	return first
}

// wait puts a job into the queue for a later time, unless it is due before that.
func (d *dispatcher) wait(i int, at time.Time) {
	if at.IsZero() {
		return
	}
	if d.bug == oneTimer {
		for j, other := range d.due {
			if other.After(d.envs[j].Now()) {
				delete(d.due, j)
			}
		}
	}
	if is, ok := d.due[i]; !ok || at.Before(is) {
		d.due[i] = at
	}
}

func (d *dispatcher) round(ctx context.Context, i int) (time.Time, error) {
	s, b, err := d.looks[i](ctx)
	if err != nil || s.Job.UID == "" {
		return time.Time{}, err
	}
	env := d.envs[i]
	s.Now, s.Options, s.Memory = env.Now(), env.Options(), d.memories[i]
	plan, err := job.Reconcile(s)
	if err != nil {
		return time.Time{}, err
	}
	env.Planned(&s, &plan)
	end, err := jobapply.Executor{Parallel: 1}.Apply(ctx, env.Backend(b), &plan)
	d.memories[i] = end.Memory
	return end.Requeue.At, err
}
