package job

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
)

// requeueOf returns the earliest time at which one of the waits ends by itself. Nothing changes
// before that time without an event (L6).
func requeueOf(waits []Wait, now time.Time, quirks jobquirk.Set) (next Requeue) {
	coarse := quirks.Has(jobquirk.CoarseRequeue)
	for i := range waits {
		at, reason := waits[i].Until, waits[i].Reason
		if at.IsZero() {
			continue
		}

		switch reason {
		case jobreason.WaitBackoff, jobreason.WaitIndexBackoff:
			if soonest := now.Add(time.Second); coarse && at.Before(soonest) {
				at = soonest
			}
		}
		if next.At.IsZero() || at.Before(next.At) {
			next = Requeue{At: at, Reason: reason}
		}
	}
	return next
}

// pollDelay is the delay of the next round if nothing proves that its snapshot will show the writes
// of this one.
const pollDelay = time.Second

// requeue returns the time to plan again if no event comes. It is the plan's, or earlier if the
// writes of this round have made something possible for the next one (L9).
func (a *aftermath) requeue(retry bool) Requeue {
	// If an orphan is gone, the round of the real controller goes on.
	coarse := a.Facts.Quirks.Has(jobquirk.CoarseRequeue) && a.outcome.Claimed.Result != jobreason.ResultGone
	if retry || coarse || !a.goesOn() {
		return a.plan.Requeue
	}

	at := a.Facts.Now
	if !a.provesNew() {
		at = at.Add(pollDelay)
	}

	if due := a.plan.Requeue.At; !due.IsZero() && due.Before(at) {
		return a.plan.Requeue
	}
	return Requeue{At: at, Reason: jobreason.WaitNext}
}

// provesNew reports whether the next round is sure not to repeat this one, even if the adapter sees
// its own writes late. That is so if snapshots contain all own writes, if a status was written on
// condition of its version, or if the expectations hold the next round back. Otherwise rounds could
// follow each other without a pause.
func (a *aftermath) provesNew() bool {
	o := a.outcome
	switch {
	case a.Facts.Consistent, o.wroteStatus():
		return true
	case a.plan.Verdict.decided():
		return false
	}
	return slices.ContainsFunc(o.Created, tookEffect) || slices.ContainsFunc(o.Deleted, tookEffect)
}

// tookEffect reports whether the write itself had an effect. It had none if the object was already
// gone.
func tookEffect(e Effect) bool { return e.Result == jobreason.ResultDone }

// goesOn reports whether the next round builds on the writes of this one.
func (a *aftermath) goesOn() bool {
	if a.isStopped() {
		return a.plan.isStoppedFor(jobreason.WaitObserved)
	}

	o := a.outcome
	switch {
	case a.Course.Capped, len(a.plan.Adopt) > 0:
		return true // pods are left for the next round
	case a.Course.More && slices.ContainsFunc(o.Created, tookEffect):
		return true
	case slices.ContainsFunc(o.Deleted, tookEffect):
		return true // only the next snapshot shows whether the pods are gone
	case hasReplaced(a.plan.Create, o.Created):
		return true
	}
	return hasUntrackedUnfinished(a.untrack, o.Untracked)
}

// hasReplaced reports whether an index has got a replacement that carries its failure count. The
// failed pod then no longer needs its finalizer (J17).
func hasReplaced(creations []Creation, created []Effect) bool {
	for i := range creations {
		c := &creations[i]
		if max(c.FailureCount, c.IgnoredFailureCount) > 0 && tookEffect(value.At(created, i)) {
			return true
		}
	}
	return false
}

// hasUntrackedUnfinished reports whether a pod that had not ended has lost its finalizer. If it was
// being deleted, it may be gone now.
func hasUntrackedUnfinished(untrack []Untracking, results []Reply) bool {
	for i := range untrack {
		if !untrack[i].Ended && value.At(results, i).Result == jobreason.ResultDone {
			return true
		}
	}
	return false
}
