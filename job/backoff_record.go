package job

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/job/jobquirk"
)

// recordBackoff brings the record of failures up to date with the pods that
// finished since the last round: a success resets it, and failures after the
// latest success count (J31). Ignored failures delay, too. A job that limits
// failures index by index has its record on the pods instead.
func (p *Planner) recordBackoff() {
	if p.job.limitsIndexes() {
		return
	}
	b := &p.plan.Basis
	failures := p.finishTimes(p.unrecorded(p.pods.failed))
	b.Backoff = b.Backoff.Observe(p.finishTimes(p.pods.succeeded), failures)
	// Nothing tells whether an untimed failure came before or after the successes. If
	// the time of the round decided that, the plan would change with it (L6).
	for _, s := range p.pods.untimed {
		b.Backoff = b.Backoff.Failure(s.At)
		failures = append(failures, s.At)
	}
	if p.snap.Options.Quirks.Has(jobquirk.EarlierFailure) && len(failures) > 0 && len(p.pods.succeeded) == 0 {
		b.Backoff.LastFailure = slices.MaxFunc(failures, time.Time.Compare)
	}
}

// unrecorded leaves out the pods that an earlier round has put into the record: those that
// are ignored stay new as long as their finalizer cannot be removed.
func (p *Planner) unrecorded(places []int32) []int32 {
	if p.plan.Basis.Memory.Handled.Len() == 0 || p.snap.Options.Quirks.Has(jobquirk.EarlierFailure) {
		return places
	}
	return slices.DeleteFunc(slices.Clone(places), func(i int32) bool {
		return p.known.facts(p.snap.Pods[i].UID)&uidHandled != 0
	})
}

func (p *Planner) finishTimes(places []int32) []time.Time {
	out := make([]time.Time, 0, len(places))
	for _, i := range places {
		pod := &p.snap.Pods[i]
		at := finishTime(pod)
		if pod.Phase != PodSucceeded && at.IsZero() {
			continue // one of the untimed
		}
		out = append(out, at)
		if at.After(p.snap.Now) {
			// Taking it for now instead would let the backoff end later in each round,
			// and the order of failures and successes depend on when one looks (L6).
			p.note(podField(pod, "containers.finishedAt"), formatTime(at), "lies in the future; the backoff counts from there")
		}
	}
	return out
}
