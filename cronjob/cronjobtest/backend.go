package cronjobtest

import (
	"context"
	"errors"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/cronjob/cronjobcheck"
	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/world"
)

// checked is the program's backend behind the test.
type checked struct {
	e *Env
	b cronjobapply.Backend
}

// do makes a write: something may happen just before it, it may go wrong, and the store is
// compared with what it held. What is wrong with the write counts if it takes effect.
func (c *checked) do(w world.Write, before func(*cronjobcheck.State) []cronjobcheck.Violation, apply func() error, after func()) error {
	e := c.e
	e.life.Writing.Lock()
	defer e.life.Writing.Unlock()
	if e.life.Injector.Crashed() {
		return world.ErrInjected
	}
	e.interfere()
	was := e.truth
	st := cronjobcheck.State{CronJob: &was.cronJob, Options: &e.options, Triggers: was.triggers, Backfills: was.backfills}
	for i := range was.jobs {
		st.Neighbours.Add(&was.jobs[i])
	}
	applied := false
	_, err := e.life.Try(w, func() error {
		err := apply()
		applied = err == nil
		return err
	})
	if applied {
		e.life.Writes++
		e.life.Note(before(&st))
	}
	e.look(&w)
	if applied {
		after()
	}
	return err
}

func nothingWrong(*cronjobcheck.State) []cronjobcheck.Violation { return nil }

// Get reads a job. A read goes wrong with the writes only in so far as the program has ended.
func (c *checked) Get(ctx context.Context, name string) (cronjobapply.Job, error) {
	c.e.life.Writing.Lock()
	defer c.e.life.Writing.Unlock()
	if c.e.life.Injector.Crashed() {
		return cronjobapply.Job{}, world.ErrInjected
	}
	found, err := c.b.Get(ctx, name)
	is := c.e.truth.job(name)
	switch {
	case errors.Is(err, cronjobapply.ErrGone) && is != nil:
		c.e.life.Breaks("Store", "Get says that %s is gone, and it is there", name)
	case err == nil && is == nil:
		c.e.life.Breaks("Store", "Get has found %s, and there is no such job", name)
	case err == nil && found.UID != is.UID:
		c.e.life.Breaks("Store", "Get says that %s has UID %s; it is %s", name, found.UID, is.UID)
	case err == nil && (found.Controller == c.e.truth.cronJob.UID) == is.Foreign:
		c.e.life.Breaks("Store", "Get says that the controller of %s is %q; the CronJob is %s", name, found.Controller, c.e.truth.cronJob.UID)
	}
	return found, err
}

func (c *checked) Delete(ctx context.Context, d cronjob.Deletion) error {
	return c.do(world.Write{Verb: world.Delete, Name: d.Name}, nothingWrong,
		func() error { return c.b.Delete(ctx, d) },
		func() {
			if is := c.e.truth.job(d.Name); is != nil && is.UID == d.UID && is.DeletionTimestamp.IsZero() {
				c.e.life.Breaks("Store", "%s was deleted, and is there as before", d.Name)
			}
		})
}

func (c *checked) Create(ctx context.Context, n cronjob.Creation) (made cronjobapply.Job, err error) {
	existed := false
	err = c.do(world.Write{Verb: world.Create, Name: n.Name},
		func(st *cronjobcheck.State) []cronjobcheck.Violation {
			if existed {
				c.e.life.Breaks("Store", "%s was created, and a job of that name was there already: the name is the lock of a run (C13)", n.Name)
			}
			if c.e.subject.Late && c.e.watch == nil || c.e.respec {
				return nil // the program could not know
			}
			return append(st.Create(&n), c.e.checkAside(&n)...)
		},
		func() (err error) {
			existed = c.e.truth.job(n.Name) != nil
			made, err = c.b.Create(ctx, n)
			if errors.Is(err, cronjobapply.ErrExists) && !existed {
				c.e.life.Breaks("Store", "Create says that %s exists, and there is no such job", n.Name)
			}
			return err
		},
		func() { c.e.checkCreated(&n, &made) })
	return made, err
}

// checkCreated checks that the store has made the job that it was asked for.
func (e *Env) checkCreated(n *cronjob.Creation, made *cronjobapply.Job) {
	switch is := e.truth.job(n.Name); {
	case is == nil:
		e.life.Breaks("Store", "%s was created, and there is no such job", n.Name)
	case is.UID != made.UID:
		e.life.Breaks("Store", "%s was created with UID %s, and has %s", n.Name, made.UID, is.UID)
	case is.Foreign || !is.ScheduledTime.Equal(n.ScheduledTime) || is.Finished != "":
		e.life.Breaks("Store", "%s was created for the run of %s, and is %s", n.Name, n.ScheduledTime, describe(is))
	}
}

func (c *checked) WriteStatus(ctx context.Context, s cronjob.Status) error {
	return c.do(world.Write{Verb: world.WriteStatus},
		func(st *cronjobcheck.State) []cronjobcheck.Violation {
			if c.e.edited {
				c.e.life.Breaks("Store", "the status is written, and the CronJob has changed since the program looked")
			}
			return st.Status(&s, c.e.history.HasStarted)
		},
		func() error { return c.b.WriteStatus(ctx, s) },
		func() {
			if !sameStatus(&c.e.truth.cronJob.Status, &s) {
				c.e.life.Breaks("Store", "the status was written, and %s", life.Difference(&s, &c.e.truth.cronJob.Status))
			}
		})
}
