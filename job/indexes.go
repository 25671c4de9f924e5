package job

import (
	"math"
	"strconv"

	"github.com/batchplan/batchplan/internal/indexset"
)

// countIndexes makes the sets of succeeded (J14) and failed (J16) indexes, and
// finds the pods that carry failure counts (J17). Completed and failed indexes
// are disjoint: what the status says stands, and otherwise success wins (JI6).
func (p *Planner) countIndexes() {
	if !p.job.isIndexed() {
		return
	}
	status := &p.job.Status
	p.completedSame = p.readIndexes(&p.completed, "job.status.completedIndexes", status.CompletedIndexes)
	if p.job.limitsIndexes() && status.FailedIndexes != nil {
		p.failedSame = p.readIndexes(&p.failedIndexes, "job.status.failedIndexes", *status.FailedIndexes)
	}
	p.separate()
	p.addCompleted(p.pods.succeeded)
	p.addCompleted(p.pods.inFlight)
	// A pod that was counted as failed while it was being deleted, and has succeeded
	// after all, completes its index: running the index again would be a waste.
	p.addCompleted(p.pods.recorded)
	if p.job.limitsIndexes() {
		for _, places := range [...][]int32{p.pods.failed, p.pods.recorded, p.pods.inFlight} {
			p.addFailedIndexes(places)
		}
		p.findDelayed()
	}
}

// separate takes those indexes out of the failed ones that the status calls completed as
// well. An API server refuses every status that has an index in both lists.
func (p *Planner) separate() {
	if indexset.Common(&p.completed, &p.failedIndexes) == 0 {
		return
	}
	p.named.Reset()
	p.failedIndexes.Ranges(func(first, last int32) bool {
		for i := int64(first); i <= int64(last); i++ {
			if !p.completed.Has(int32(i)) {
				p.named.Add(int32(i))
			}
		}
		return true
	})
	p.failedIndexes, p.named = p.named, p.failedIndexes
	p.failedSame = -1
	p.note("job.status.failedIndexes", strconv.Quote(*p.job.Status.FailedIndexes), "has completed indexes; they are left out")
}

// addCompleted adds the indexes of pods that have succeeded. An index that the
// status calls failed stays failed.
func (p *Planner) addCompleted(places []int32) {
	for _, i := range places {
		pod := &p.snap.Pods[i]
		if pod.Phase == PodSucceeded && p.hasValidIndex(pod) && !p.failedIndexes.Has(pod.Index) {
			p.completed.Add(pod.Index)
		}
	}
}

// readIndexes reads an index list, clipped to completions (J15). A corrupt piece
// is skipped, not fatal (J14). It returns the size of the set for which the text
// need not be written again, -1 when it must be.
func (p *Planner) readIndexes(set *indexset.Set, field, text string) (same int) {
	read := set.AddText(text, *p.job.Spec.Completions)
	for _, piece := range read.Corrupt {
		p.note(field, strconv.Quote(piece), "is no index and no interval; left out")
	}
	if !read.Canonical {
		return -1
	}
	return set.Len()
}

// addFailedIndexes adds the indexes of failed pods that are not to be retried.
func (p *Planner) addFailedIndexes(places []int32) {
	for _, i := range places {
		pod := &p.snap.Pods[i]
		if pod.Phase == PodSucceeded || !p.hasValidIndex(pod) || p.completed.Has(pod.Index) {
			continue
		}
		if p.failsIndex(pod) {
			p.failedIndexes.Add(pod.Index)
		}
	}
}

// failsIndex reports whether this failure was the index's last (J16).
func (p *Planner) failsIndex(pod *Pod) bool {
	failure := p.failureOf(pod)
	return failure.action == FailIndex ||
		failure.counts && pod.detail().FailureCount >= *p.job.Spec.BackoffLimitPerIndex
}

// recordIndexes puts the index lists into the basis.
func (p *Planner) recordIndexes() {
	b := &p.plan.Basis
	status := &p.job.Status
	b.CompletedIndexes = p.formatIndexes(&p.completed, status.CompletedIndexes, p.completedSame)
	b.CompletedIndexesCount = int32(min(p.completed.Len(), math.MaxInt32))
	if !p.job.limitsIndexes() {
		return // without limits an index cannot fail, and a list in the status goes
	}
	b.FailedIndexes = status.FailedIndexes
	if b.FailedIndexes == nil {
		b.FailedIndexes = pointTo(p.formatIndexes(&p.failedIndexes, "", 0))
	} else if text := p.formatIndexes(&p.failedIndexes, *b.FailedIndexes, p.failedSame); text != *b.FailedIndexes {
		b.FailedIndexes = pointTo(text)
	}
}

// formatIndexes returns old itself where the text has not changed: indexes are
// only ever added to what was read, so the size tells.
func (p *Planner) formatIndexes(set *indexset.Set, old string, same int) string {
	if set.Len() == same {
		return old
	}
	p.text = set.AppendText(p.text[:0])
	if string(p.text) == old {
		return old
	}
	return string(p.text)
}
