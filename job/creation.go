package job

import (
	"strconv"
	"time"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// createMissing creates up to that many pods, unless a backoff holds them (J30, J31).
func (p *Planner) createMissing(missing int64) {
	switch {
	case p.job.limitsIndexes():
		p.createDueIndexes(missing)
	case !p.backoffHolds(missing):
		p.create(missing)
	}
}

// backoffHolds reports whether the global backoff is still running (J31).
func (p *Planner) backoffHolds(missing int64) bool {
	record := p.plan.Basis.Backoff
	due := record.Due(p.snap.Options.Backoff)
	if !p.snap.Now.Before(due) {
		return false
	}
	p.wait(Wait{Reason: WaitBackoff, Pods: missing, Until: due, Failures: int64(record.Failures)})
	return true
}

// create creates pods, for an Indexed job those of the lowest pending indexes (J33).
func (p *Planner) create(missing int64) {
	count := min(missing, maxPodWrites)
	p.plan.Basis.More = missing > count
	if !p.job.isIndexed() {
		for range count {
			p.append(pendingIndex{index: NoIndex, replaces: -1})
		}
		return
	}
	for _, pending := range p.pendingIndexes(count) {
		p.append(pending)
	}
}

// createDueIndexes creates the pending indexes whose own backoff is over. An
// index that waits takes up its place among the missing ones (J31).
func (p *Planner) createDueIndexes(missing int64) {
	var earliest time.Time
	var waiting int64
	// With as many more indexes as there are that wait, the rest of the pending ones
	// makes no difference.
	enough := int64(maxPodWrites + len(p.pods.delayed))
	if p.snap.Options.Quirks.Has(jobquirk.WaitingTakeRoom) {
		enough = maxPodWrites
	}
	p.plan.Basis.More = missing > enough
	for _, pending := range p.pendingIndexes(min(missing, enough)) {
		if place, ok := p.delayedPod(pending.index); ok {
			pending.replaces = place
			if due := p.indexDue(place); p.snap.Now.Before(due) {
				waiting++
				if earliest.IsZero() || due.Before(earliest) {
					earliest = due
				}
				continue
			}
		}
		if len(p.plan.Create) < maxPodWrites {
			p.append(pending)
		} else {
			p.plan.Basis.More = true
		}
	}
	if waiting > 0 && (len(p.plan.Create) == 0 || !p.snap.Options.Quirks.Has(jobquirk.CoarseRequeue)) {
		p.wait(Wait{Reason: WaitIndexBackoff, Pods: waiting, Until: earliest})
	}
}

// pendingIndexes returns the lowest indexes that are not active, succeeded,
// failed, nor waiting for a terminating pod to end.
func (p *Planner) pendingIndexes(count int64) []pendingIndex {
	out := p.pods.creatable[:0]
	limit := *p.job.Spec.Completions
	for i := int32(0); int64(len(out)) < count; i++ {
		i = indexset.NextFree(i, limit, &p.completed, &p.failedIndexes, &p.activeIndexes, &p.leavingIndexes)
		if i >= limit {
			break
		}
		out = append(out, pendingIndex{index: i, replaces: -1})
	}
	p.pods.creatable = out
	return out
}

func (p *Planner) append(pending pendingIndex) {
	c := Creation{Index: pending.index, NamePrefix: p.job.Name + "-", Reason: p.createReason()}
	if p.job.isIndexed() {
		index := strconv.Itoa(int(pending.index))
		c.NamePrefix = indexedPrefix(p.job.Name, index)
		c.Hostname = p.job.Name + "-" + index
		c.PerIndex = p.job.limitsIndexes()
	}
	if pending.replaces >= 0 {
		c.FailureCount, c.IgnoredFailureCount = p.countsAfter(pending.replaces)
	}
	p.plan.Create = append(p.plan.Create, c)
}

// createReason is the same for all creations of a round (J42).
func (p *Planner) createReason() CreateReason {
	switch {
	case p.failed > 0 && p.job.replacesOnlyFailed():
		return CreateReplacementOfFailed
	case p.failed > 0 || p.counts.terminating > 0:
		return CreateReplacement
	}
	return CreateNew
}

// indexedPrefix is "job-index-", the job's name cut so that it fits what a
// generated name leaves of 63 characters (J33).
func indexedPrefix(name, index string) string {
	const longest = 58
	suffix := "-" + index + "-"
	return name[:min(len(name), longest-len(suffix))] + suffix
}

// Labels returns the labels that the pod gets besides those of the template; nil
// for a NonIndexed job.
func (c *Creation) Labels() map[string]string {
	if c.Index == NoIndex {
		return nil
	}
	return map[string]string{IndexLabel: strconv.Itoa(int(c.Index))}
}

// Annotations returns the annotations that the pod gets besides those of the
// template; nil for a NonIndexed job.
func (c *Creation) Annotations() map[string]string {
	if c.Index == NoIndex {
		return nil
	}
	out := map[string]string{IndexAnnotation: strconv.Itoa(int(c.Index))}
	if c.PerIndex {
		out[FailureCountAnnotation] = strconv.Itoa(int(c.FailureCount))
		if c.IgnoredFailureCount > 0 {
			out[IgnoredFailureCountAnnotation] = strconv.Itoa(int(c.IgnoredFailureCount))
		}
	}
	return out
}
