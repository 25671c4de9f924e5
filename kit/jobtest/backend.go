package jobtest

import (
	"context"
	"errors"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/kit/jobcheck"
	"github.com/batchplan/batchplan/kit/world"
)

// checked is the program's backend behind the test.
type checked struct {
	e *Env
	b jobapply.Backend
}

// write is one write to check.
type write struct {
	world.Write
	// pod is the UID of the pod that may change; a creation makes one.
	pod job.UID
	// before is what is wrong with the write if it takes effect.
	before func(*jobcheck.State) []jobcheck.Violation
	apply  func() error
	// after checks what a write that was confirmed has made of the store.
	after func(is *truth)
}

// do makes a write: something may happen just before it, it may go wrong, and the store is
// compared with what it held.
func (c *checked) do(w write) error {
	e := c.e
	e.life.Writing.Lock()
	defer e.life.Writing.Unlock()
	if e.life.Injector.Crashed() {
		return world.ErrInjected
	}
	e.interfere()
	was := e.truth
	st := jobcheck.State{Job: &was.job, Pods: was.pods, History: &e.history, Options: e.options}
	var wrong []jobcheck.Violation
	applied := false
	lost, err := e.life.Try(w.Write, func() error {
		wrong = w.before(&st)
		err := w.apply()
		applied = err == nil
		return err
	})
	if applied {
		e.life.Writes++
		e.life.Note(wrong)
		e.checkGoneJob(w.Write)
	}
	e.look(&w)
	if applied {
		w.after(&e.truth)
	}
	if errors.Is(err, jobapply.ErrGone) && e.truth.pod(w.pod) != nil {
		e.life.Breaks("Store", "%s says that the pod is gone, and it is there", w.Write)
	}
	e.troubled = e.troubled || err != nil
	if lost {
		e.history.LostStatus = e.history.LostStatus || w.Verb == world.WriteStatus
	}
	if err != nil && w.Verb == world.Create && len(e.truth.pods) > len(was.pods) {
		e.history.LostCreates++
	}
	return err
}

func nothingWrong(*jobcheck.State) []jobcheck.Violation { return nil }

func (c *checked) Adopt(ctx context.Context, pod job.PodRef) error {
	var was *job.Pod
	return c.do(write{
		Write: world.Write{Verb: world.Adopt, Name: pod.Name}, pod: pod.UID, before: func(*jobcheck.State) []jobcheck.Violation {
			was = c.e.truth.pod(pod.UID)
			return c.e.adopts()
		},
		apply: func() error { return c.b.Adopt(ctx, pod) },
		after: func(is *truth) { c.e.checkAdopted(was, is.pod(pod.UID)) },
	})
}

func (c *checked) Release(ctx context.Context, pod job.PodRef) error {
	return c.do(write{
		Write: world.Write{Verb: world.Release, Name: pod.Name}, pod: pod.UID, before: nothingWrong,
		apply: func() error { return c.b.Release(ctx, pod) },
		after: func(is *truth) {
			if p := is.pod(pod.UID); p != nil && (p.Owner <= job.OwnedUnmatched || !p.Untracked) {
				c.e.life.Breaks("Store", "%s was released, and is still the job's", pod.Name)
			}
		},
	})
}

func (c *checked) Delete(ctx context.Context, d job.Deletion) error {
	var was *job.Pod
	return c.do(write{
		Write: world.Write{Verb: world.Delete, Name: d.Name}, pod: d.UID,
		before: func(st *jobcheck.State) []jobcheck.Violation {
			p := c.e.truth.pod(d.UID)
			was = p
			if !d.UntrackFirst || p == nil {
				return nil
			}
			if l := st.History.Of(d.UID); l != nil {
				l.Removed = true
			}
			return st.DeleteUntracked(p)
		},
		apply: func() error { return c.b.Delete(ctx, d) },
		after: func(is *truth) { c.e.checkDeleted(was, is.pod(d.UID), &d) },
	})
}

func (c *checked) Create(ctx context.Context, n job.Creation) (ref job.PodRef, err error) {
	err = c.do(write{
		Write: world.Write{Verb: world.Create, Name: n.NamePrefix},
		before: func(st *jobcheck.State) []jobcheck.Violation {
			return append(st.Create(jobcheck.Active(st.Pods)+1), c.e.indexTwice(st, n.Index.Int32())...)
		},
		apply: func() (err error) {
			ref, err = c.b.Create(ctx, n)
			return err
		},
		after: func(is *truth) { c.e.checkCreated(is.pod(ref.UID), ref, &n) },
	})
	return ref, err
}

func (c *checked) Untrack(ctx context.Context, pod job.PodRef) error {
	return c.do(write{
		Write: world.Write{Verb: world.Untrack, Name: pod.Name}, pod: pod.UID,
		before: func(st *jobcheck.State) []jobcheck.Violation {
			p := c.e.truth.pod(pod.UID)
			if p == nil || c.e.gone {
				return nil
			}
			seen := *st.Job // an index is judged by the spec that the plan was made for
			seen.Spec = c.e.seen
			st.Job = &seen
			return st.Untrack(p)
		},
		apply: func() error { return c.b.Untrack(ctx, pod) },
		after: func(is *truth) {
			if p := is.pod(pod.UID); p != nil && !p.Untracked {
				c.e.life.Breaks("Store", "%s was untracked, and has its finalizer", pod.Name)
			}
		},
	})
}

func (c *checked) WriteStatus(ctx context.Context, s job.Status) error {
	return c.do(write{
		Write: world.Write{Verb: world.WriteStatus, Name: c.e.name},
		before: func(st *jobcheck.State) []jobcheck.Violation {
			wrong := st.Status(&s)
			if c.e.edited {
				wrong = append(wrong, jobcheck.Violation{Rule: "Store", Problem: "the status is written, and the job has changed since the program looked"})
			}
			return wrong
		},
		apply: func() error { return c.b.WriteStatus(ctx, s) },
		after: func(is *truth) {
			c.e.life.Kept("the status was written", &s, &is.job.Status)
		},
	})
}
