package cronjobtest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/cronjob/cronjobcheck"
	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/internal/world"
)

// checked is the program's backend, wrapped by the test.
type checked struct {
	e *Env
	b cronjobapply.Backend
}

// do makes a write, and compares the store before and after it. If the write creates a job,
// argument run is the scheduled time of the job, and made is the job in the reply.
func (c *checked) do(run time.Time, made *cronjobapply.Job, w life.Write) error {
	return c.e.life.Do(w, func() { c.e.interfere(w.Write, run) }, func(_ bool, err error) {
		c.e.look(w.Write)
		c.e.pending.Note(w.Write, answer{*made, err})
	})
}

// Unwrap lets the executor find the optional interfaces of the program's backend.
func (c *checked) Unwrap() cronjobapply.Backend { return c.b }

// Get reads a job. A read fails only if the program has ended.
func (c *checked) Get(ctx context.Context, name string) (cronjobapply.Job, error) {
	c.e.life.Writing.Lock()
	defer c.e.life.Writing.Unlock()
	if c.e.life.Injector.Crashed() {
		return cronjobapply.Job{}, world.ErrInjected
	}

	found, err := c.b.Get(ctx, name)
	c.e.pending.Note(world.Write{Verb: get, Name: name}, answer{found, err})
	is := c.e.truth.Child(name)
	switch {
	case errors.Is(err, cronjobapply.ErrGone) && is != nil:
		c.e.life.Breaks("Store", "Get says that %s is gone, and it is there", name)
	case err == nil && is == nil:
		c.e.life.Breaks("Store", "Get has found %s, and there is no such job", name)
	case err == nil && found.UID != is.UID:
		c.e.life.Breaks("Store", "Get says that %s has UID %s; it is %s", name, found.UID, is.UID)
	case err == nil && (found.Controller == c.e.truth.Object.UID) == is.Foreign:
		c.e.life.Breaks("Store", "Get says that the controller of %s is %q; the CronJob is %s",
			name, found.Controller, c.e.truth.Object.UID)
	}
	return found, err
}

func (c *checked) Delete(ctx context.Context, d cronjob.Deletion) error {
	return c.do(time.Time{}, &cronjobapply.Job{}, life.Write{
		Write: world.Write{Verb: world.Delete, Name: d.Name},
		Apply: func() error { return c.b.Delete(ctx, d) },
		After: func() {
			old, is := c.e.was.Child(d.Name), c.e.truth.Child(d.Name)
			switch isDeleted := is == nil || !is.DeletionTimestamp.IsZero(); {
			case old == nil:
			case old.UID == d.UID && !isDeleted:
				c.e.life.Breaks("Store", "%s was deleted, and is there as before", d.Name)
			case old.UID != d.UID && isDeleted:
				c.e.life.Breaks("Store", "%s with UID %s was to be deleted, and %s is: another job of that name",
					d.Name, d.UID, old.UID)
			}
		},
	})
}

func (c *checked) Create(ctx context.Context, n cronjob.Creation) (made cronjobapply.Job, err error) {
	existed := false
	err = c.do(n.ScheduledTime, &made, life.Write{
		Write: world.Write{Verb: world.Create, Name: n.Name},

		Before: func() []cronjobcheck.Violation {
			existed = c.e.truth.Child(n.Name) != nil
			wrong := life.Wrong(existed, "Store", "%s was created, and a job of that name was there already: "+
				"the name is the lock of a run (C13)", n.Name)

			seesLate := c.e.subject.Late && c.e.watch == nil
			if seesLate || c.e.respec {
				return wrong // the program could not know that this is wrong
			}
			return slices.Concat(wrong, c.e.state().Create(&n), c.e.checkAside(&n))
		},
		Apply: func() (err error) {
			made, err = c.b.Create(ctx, n)
			if errors.Is(err, cronjobapply.ErrExists) && !existed {
				c.e.life.Breaks("Store", "Create says that %s exists, and there is no such job", n.Name)
			}
			return err
		},
		After: func() { c.e.checkCreated(&n, &made) },
	})
	return made, err
}

// checkCreated checks that the store has made the job that was requested.
func (e *Env) checkCreated(n *cronjob.Creation, made *cronjobapply.Job) {
	switch is := e.truth.Child(n.Name); {
	case is == nil:
		e.life.Breaks("Store", "%s was created, and there is no such job", n.Name)
	case is.UID != made.UID:
		e.life.Breaks("Store", "%s was created with UID %s, and has %s", n.Name, made.UID, is.UID)
	case is.Foreign || !is.ScheduledTime.Equal(n.ScheduledTime) || is.Finished != "":
		e.life.Breaks("Store", "%s was created for the run of %s, and is %s", n.Name, n.ScheduledTime, describe(is))
	case is.CreationTimestamp.IsZero():
		e.life.Breaks("Store", "%s was created, and has no creationTimestamp: it decides how old the job is", n.Name)
	case !e.isNow(is.CreationTimestamp) || !e.isNow(made.CreationTimestamp):
		e.life.Breaks("Store", "%s was created at %s, and its creationTimestamp is %s, in the reply %s: "+
			"the clock of the life is Env.Now", n.Name, e.life.Now(), is.CreationTimestamp, made.CreationTimestamp)
	}
}

// isNow reports whether a time is missing, or less than a second away.
func (e *Env) isNow(t time.Time) bool { return t.IsZero() || t.Sub(e.life.Now()).Abs() <= time.Second }

func (c *checked) WriteStatus(ctx context.Context, s cronjob.Status) error {
	if c.e.options.ActiveFromChildren {
		s.Active = nil // the CronJob's kind does not store it
	}
	if c.e.options.SuccessFromChildren {
		s.LastSuccessfulTime = time.Time{}
	}

	return c.do(time.Time{}, &cronjobapply.Job{}, life.Write{
		Write: world.Write{Verb: world.WriteStatus},
		Before: func() []cronjobcheck.Violation {
			wrong := life.Wrong(c.e.edited, "Store",
				"the status is written, and the CronJob has changed since the program looked")
			return append(wrong, c.e.state().Status(&s, c.e.history.HasStarted)...)
		},
		Apply: func() error { return c.b.WriteStatus(ctx, s) },
		After: func() {
			is := &c.e.truth.Object.Status
			if !sameStatus(is, &s) {
				c.e.life.Breaks("Store", "the status was written, and %s", life.Difference(&s, is))
			}
			if is.LastScheduleTime.After(c.e.was.Object.Status.LastScheduleTime) {
				c.e.life.Done++
			}
		},
	})
}
