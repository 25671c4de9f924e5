package jobtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/internal/step"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobcheck"
	"github.com/batchplan/batchplan/job/jobpod"
)

// checked wraps the program's backend, and checks each write.
type checked struct {
	e *Env
	b jobapply.Backend
}

// do makes a write, and compares the store before and after it. pod is the UID of the pod that may
// change, empty for a creation.
func (c *checked) do(pod job.UID, w life.Write) error {
	e := c.e
	return e.life.Do(w, func() { e.interfere(w.Verb, pod) }, func(lost bool, err error) {
		if lost || err == nil {
			e.checkGoneJob(w.Write)
		}
		e.look(w.Write, pod)
		if err != nil && !lost && w.Verb == world.Delete {
			e.checkNotDeleted(e.was.Child(string(pod)), e.pod(pod))
		}

		e.pending.Note(world.Write{Verb: w.Verb, Name: string(pod)}, err)
		if errors.Is(err, jobapply.ErrGone) && e.pod(pod) != nil {
			e.life.Breaks("Store", "%s says that the pod is gone, and it is there", w.Write)
		}

		e.history.LostStatus = e.history.LostStatus || lost && w.Verb == world.WriteStatus
		if err != nil && w.Verb == world.Create && len(e.truth.Children) > len(e.was.Children) {
			e.history.LostCreates++
		}
	})
}

// asked returns the program's backend as one of the optional interfaces, for a plan that needs it.
func asked[T jobapply.Backend](c *checked, name string) (b T, err error) {
	b, ok := step.As[T](c.b)
	if !ok {
		err = fmt.Errorf("%T is no %s", c.b, name)
		c.e.life.Writing.Lock()
		defer c.e.life.Writing.Unlock()
		c.e.life.Breaks("Store", "the plan cannot be carried out: %v", err)
	}
	return b, err
}

func (c *checked) Adopt(ctx context.Context, pod job.Claim) error {
	b, err := asked[jobapply.Adopter](c, "Adopter")
	if err != nil {
		return err
	}
	return c.do(pod.UID, life.Write{
		Write: world.Write{Verb: world.Adopt, Name: pod.Name},
		Before: func() []jobcheck.Violation {
			isDeleted := !c.e.truth.Object.DeletionTimestamp.IsZero()
			return life.Wrong(isDeleted, "JI22", "a pod is adopted for a job that is being deleted")
		},
		Apply: func() error { return b.Adopt(ctx, pod) },
		After: func() { c.e.checkAdopted(c.e.was.Child(string(pod.UID)), c.e.pod(pod.UID)) },
	})
}

func (c *checked) Release(ctx context.Context, pod job.Claim) error {
	b, err := asked[jobapply.Adopter](c, "Adopter")
	if err != nil {
		return err
	}
	return c.do(pod.UID, life.Write{
		Write: world.Write{Verb: world.Release, Name: pod.Name},
		Apply: func() error { return b.Release(ctx, pod) },
		After: func() {
			if p := c.e.pod(pod.UID); p != nil && (p.Owner <= jobpod.OwnedUnmatched || !p.Untracked) {
				c.e.life.Breaks("Store", "%s was released, and is still the job's", pod.Name)
			}
		},
	})
}

func (c *checked) Delete(ctx context.Context, d job.Deletion) error {
	return c.do(d.UID, life.Write{
		Write: world.Write{Verb: world.Delete, Name: d.Name},
		Before: func() []jobcheck.Violation {
			p := c.e.pod(d.UID)
			if !d.UntrackFirst || p == nil {
				return nil
			}

			if l := c.e.history.Of(d.UID); l != nil {
				l.Removed = true
			}
			return c.e.state().DeleteUntracked(p)
		},
		Apply: func() error { return c.b.Delete(ctx, d) },
		After: func() { c.e.checkDeleted(c.e.was.Child(string(d.UID)), c.e.pod(d.UID), &d) },
	})
}

func (c *checked) Create(ctx context.Context, n job.Creation) (ref job.PodRef, err error) {
	err = c.do("", life.Write{
		Write: world.Write{Verb: world.Create, Name: n.NamePrefix},
		Before: func() []jobcheck.Violation {
			st := c.e.state()
			wrong := st.Create(&n, jobcheck.Active(st.Pods)+1)
			return append(wrong, c.e.indexTwice(n.Index.Int32())...)
		},
		Apply: func() (err error) {
			ref, err = c.b.Create(ctx, n)
			return err
		},
		After: func() { c.e.checkCreated(c.e.pod(ref.UID), ref, &n) },
	})
	return ref, err
}

func (c *checked) Untrack(ctx context.Context, u job.Untracking) error {
	return c.do(u.UID, life.Write{
		Write: world.Write{Verb: world.Untrack, Name: u.Name},
		Before: func() []jobcheck.Violation {
			p := c.e.pod(u.UID)
			if p == nil || c.e.gone {
				return nil
			}

			return c.e.plannedState().Untrack(p)
		},
		Apply: func() error { return c.b.Untrack(ctx, u) },
		After: func() {
			if p := c.e.pod(u.UID); p != nil && !p.Untracked {
				c.e.life.Breaks("Store", "%s was untracked, and has its finalizer", u.Name)
			}
		},
	})
}

// Unwrap lets the executor find the optional interfaces of the program's backend.
func (c *checked) Unwrap() jobapply.Backend { return c.b }

// JobVersion returns the version of the program's backend, if that is a [jobapply.Versioned].
func (c *checked) JobVersion() int64 {
	v, ok := step.As[jobapply.Versioned](c.b)
	if !ok {
		return 0
	}

	c.e.life.Writing.Lock()
	defer c.e.life.Writing.Unlock()
	version := v.JobVersion()
	if is := c.e.truth.Object.Version; version != is {
		c.e.life.Breaks("Store", "JobVersion is %d after a write of the status, and the version of the job is %d",
			version, is)
	}
	return version
}

func (c *checked) WriteStatus(ctx context.Context, s job.Status) error {
	return c.do("", life.Write{
		Write: world.Write{Verb: world.WriteStatus, Name: c.e.name},
		Before: func() []jobcheck.Violation {
			stale := life.Wrong(c.e.edited && !c.e.subject.Unconditional, "Store",
				"the status is written, and the job has changed since the program looked")
			return append(c.e.plannedState().Status(&s), stale...)
		},
		Apply: func() error { return c.b.WriteStatus(ctx, s) },
		After: func() { c.e.life.Kept("the status was written", &s, &c.e.truth.Object.Status) },
	})
}
