package sim

import (
	"context"
	"errors"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

var (
	errDown     = errors.New("the API server is down")
	errFault    = errors.New("the write has failed")
	errConflict = errors.New("the job has changed since it was read")
)

// jobBackend is the API server as seen by the executor of one round.
type jobBackend struct {
	*worker
	engine    *engine
	js        *jobState
	life      uint32
	version   int64 // the version that the round has read, or has written last
	creations int
	// grouped is the kind of the concurrent calls under way.
	grouped byte
}

// isGone reports whether the job is gone. Another job may already use its jobState.
func (b *jobBackend) isGone() bool { return b.js.life != b.life || b.js.gone }

// call makes a write, with the delays and faults of the control plane.
func (b *jobBackend) call(group byte, write func() error) error {
	first := b.grouped != group
	b.grouped = group
	return b.engine.plane.call(b.worker, first, write)
}

// Create creates a pod. The calls are concurrent, in groups of 1, 2, 4, ... (J34).
func (b *jobBackend) Create(_ context.Context, c job.Creation) (ref job.PodRef, err error) {
	if n := b.creations + 1; n&(n-1) == 0 {
		b.grouped = 0
	}
	b.creations++

	e := b.engine
	if e.plane.isDirect() {
		return e.createPod(b.js, &c), nil
	}

	err = b.call('c', func() error {
		if b.isGone() {
			return errConflict
		}
		ref = e.createPod(b.js, &c)
		return nil
	})
	return ref, err
}

func (b *jobBackend) Delete(_ context.Context, d job.Deletion) error {
	return b.call('d', func() error {
		e := b.engine
		id, p := e.pods.find(d.UID)
		switch {
		case p == nil:
			return jobapply.ErrGone
		case d.UntrackFirst && p.state == podEnded && e.view.phase(p) != p.Phase:
			return jobapply.ErrStillTracked // the pod has ended since the plan (JI9)
		case d.UntrackFirst:
			e.untrackPod(id, p)
		}
		if p.of != nil {
			e.deletePod(id, p)
		}
		return nil
	})
}

func (b *jobBackend) Untrack(_ context.Context, u job.Untracking) error {
	e := b.engine
	untrack := func() error {
		id, p := e.pods.find(u.UID)
		if p == nil {
			return jobapply.ErrGone
		}
		e.untrackPod(id, p)
		return nil
	}
	if e.plane.isDirect() {
		return untrack()
	}
	return b.call('u', untrack)
}

func (b *jobBackend) WriteStatus(_ context.Context, s job.Status) error {
	b.grouped = 0
	err := b.call('s', func() error {
		if b.isGone() || b.js.truth.Version != b.version {
			return errConflict
		}
		b.engine.writeStatus(b.js, s)
		b.version = b.js.truth.Version
		return nil
	})
	b.grouped = 0
	return err
}

// Expectations returns the expectations of a round that may not see its own writes.
func (b *jobBackend) Expectations() jobapply.Expectations {
	if b.js.snap.Consistent {
		return nil
	}
	return b.engine.view.tracker.Of(b.js.trackerKey(), b.js.snap.Now)
}

// JobVersion returns the version of the job after the last write of its status. It is 0 for a
// consistent snapshot, which does not need it.
func (b *jobBackend) JobVersion() int64 {
	if b.js.snap.Consistent {
		return 0
	}
	return b.version
}
