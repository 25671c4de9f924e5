package job

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// pollDelay is how long to wait for a snapshot that shows what a round has done, where
// nothing proves that the next one does.
const pollDelay = time.Second

// again says when to plan again, with no event to wait for: at the time of the plan, or
// sooner if the next round has something to do that only own writes have made possible (L9).
func (p *Plan) again(o *Outcome, r *Recording, retry bool) Requeue {
	b := &p.basis
	// The real controller does not end a round because an orphan is gone.
	coarse := b.Quirks.Has(jobquirk.CoarseRequeue) && o.Claimed != ResultGone
	if retry || coarse || !p.goesOn(o, r) {
		return p.Requeue
	}
	at := b.Now
	if !p.provesNew(o) {
		at = at.Add(pollDelay)
	}
	if due := p.Requeue.At; !due.IsZero() && due.Before(at) {
		return p.Requeue
	}
	return Requeue{At: at, Reason: WaitNext}
}

// provesNew reports whether this round cannot be repeated from the same snapshot, however
// late an adapter sees its own writes: snapshots contain these, a status was written on
// condition of its version, or the expectations hold the next round. Without that, rounds at
// once could follow each other.
func (p *Plan) provesNew(o *Outcome) bool {
	b := &p.basis
	expects := !p.Verdict.decided() && (slices.ContainsFunc(o.Created, tookEffect) || slices.ContainsFunc(o.Deleted, tookEffect))
	return b.Consistent || expects || o.Recorded == ResultDone || o.Settled == ResultDone
}

// tookEffect reports whether the write itself did it: an object that was gone already
// is none of its doing.
func tookEffect(e Effect) bool { return e.Result == ResultDone }

// goesOn reports whether the next round builds on the writes of this one.
func (p *Plan) goesOn(o *Outcome, r *Recording) bool {
	b := &p.basis
	if b.isStopped() {
		return len(p.Waits) > 0 && p.Waits[0].Reason == WaitObserved
	}
	return b.Capped || len(p.Adopt) > 0 || // pods are left for the next round
		b.More && slices.ContainsFunc(o.Created, tookEffect) ||
		p.hasReplaced(o) ||
		slices.ContainsFunc(o.Deleted, tookEffect) || // whether the pods are gone, only the next snapshot shows
		hasUntrackedUnfinished(r.Untrack, o.Untracked)
}

// hasReplaced reports whether an index has got a replacement that carries its failure
// count: then the failed pod needs its finalizer no longer (J17).
func (p *Plan) hasReplaced(o *Outcome) bool {
	for i := range p.Create {
		c := &p.Create[i]
		if (c.FailureCount > 0 || c.IgnoredFailureCount > 0) && value.At(o.Created, i).Result == ResultDone {
			return true
		}
	}
	return false
}

// hasUntrackedUnfinished reports whether a pod has lost its finalizer that had not ended:
// if it was being deleted, it may be gone now.
func hasUntrackedUnfinished(untrack []Untracking, results []Result) bool {
	for i := range untrack {
		if !untrack[i].Ended && value.At(results, i) == ResultDone {
			return true
		}
	}
	return false
}
