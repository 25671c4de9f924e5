package job

import (
	"slices"
	"time"
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
	failures := p.finishTimes(p.pods.failed)
	b.Backoff = b.Backoff.Observe(p.finishTimes(p.pods.succeeded), failures)
	if p.snap.Options.Slips.has(SlipEarlierFailure) && len(failures) > 0 && len(p.pods.succeeded) == 0 {
		b.Backoff.LastFailure = slices.MaxFunc(failures, time.Time.Compare)
	}
}

func (p *Planner) finishTimes(places []int32) []time.Time {
	out := make([]time.Time, len(places))
	for n, i := range places {
		pod := &p.snap.Pods[i]
		out[n] = finishTime(pod)
		if out[n].After(p.snap.Now) {
			// Taking it for now instead would let the backoff end later in each round,
			// and the order of failures and successes depend on when one looks (L6).
			p.note(podField(pod, "containers.finishedAt"), formatTime(out[n]), "lies in the future; the backoff counts from there")
		}
	}
	return out
}
