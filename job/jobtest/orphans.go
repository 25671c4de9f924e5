package jobtest

import (
	"context"
	"errors"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobpod"
)

// Orphaner is a Store whose job can be removed while its pods stay. The pods keep their finalizers,
// and are never counted. The program has to remove these finalizers through [Env.Backend], if
// [job.MayUntrack] allows it. The program is called as for any other change.
type Orphaner interface {
	// RemoveJobOnly removes the job and leaves its pods, which Pods still returns. RemoveJob is
	// called later, and removes them.
	RemoveJobOnly() error
}

// mayOrphan reports whether the pods of this job are to be left behind.
func (e *Env) mayOrphan() bool {
	_, ok := e.subject.Store.(Orphaner)
	return ok && e.watch == nil && rapid.IntRange(0, 3).Draw(e.life.T, "orphans") == 3
}

// leaveOrphans removes the job and leaves its pods. In the end none has a finalizer (L4).
func (e *Env) leaveOrphans() {
	e.life.Tell("a user removes job %s, and leaves its pods", e.truth.Object.UID)
	e.life.Must("remove the job alone", e.subject.Store.(Orphaner).RemoveJobOnly())
	e.gone = true
	e.unknown()
	e.read()

	e.program.Happened()

	e.life.Tell("from here on nothing goes wrong")
	e.life.Quiet = true
	defer func() { e.life.Quiet, e.gone = false, false }()

	e.program.Settle()
	for e.program.Again.After(e.life.Now()) {
		e.program.Pass(e.program.Again.Sub(e.life.Now()))
	}
	e.checkOrphans()
	e.life.Stop()
}

// checkOrphans checks that no pod of a job that is gone keeps its finalizer (L4).
func (e *Env) checkOrphans() {
	for _, p := range e.truth.Children {
		if !p.Untracked && p.Owner <= jobpod.OwnedUnmatched {
			e.life.Breaks("L4", "the job is gone, and %s keeps its finalizer", p.Name)
		}
	}
}

// checkGoneJob checks that only removals of finalizers take effect once the job is gone.
func (e *Env) checkGoneJob(w world.Write) {
	if e.gone && w.Verb != world.Untrack {
		e.life.Breaks("JI22", "the job is gone, and its controller still writes: %s", w)
	}
}

// cleanUp removes the finalizers of pods whose job is gone. It takes the pods in the order in which
// the test first saw them, because a Look function may return them in any order.
func (l *loop) cleanUp(ctx context.Context, pods []job.Pod, b jobapply.Backend) (time.Time, error) {
	b, pods = l.env.Backend(b), slices.Clone(pods)
	l.env.truth.Sort(pods)
	for i := range pods {
		p := &pods[i]
		if p.Owner > jobpod.OwnedUnmatched || !job.MayUntrack(nil, p, l.env.Options()) {
			continue
		}
		u := job.Untracking{PodRef: job.PodRef{Name: p.Name, UID: p.UID}}
		if err := b.Untrack(ctx, u); err != nil && !errors.Is(err, jobapply.ErrGone) {
			return time.Time{}, err
		}
	}
	return time.Time{}, nil
}
