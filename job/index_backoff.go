package job

import (
	"cmp"
	"slices"
	"time"
)

// pendingIndex is an index to run, with the failed pod that it replaces (-1 for
// none).
type pendingIndex struct {
	index    int32
	replaces int32
}

// findDelayed finds, for each index that is neither active, succeeded nor
// failed, the failed pod that carries its failure count: the one with the
// highest count that finished last (J17).
func (p *Planner) findDelayed() {
	delayed := p.pods.delayed[:0]
	for _, places := range [...][]int32{p.pods.failed, p.pods.recorded} {
		for _, i := range places {
			pod := &p.snap.Pods[i]
			if pod.Phase == PodSucceeded || !p.hasValidIndex(pod) {
				continue
			}
			if !p.activeIndexes.Has(pod.Index) && !p.completed.Has(pod.Index) && !p.failedIndexes.Has(pod.Index) {
				delayed = append(delayed, i)
			}
		}
	}
	p.sortPlaces(delayed, p.byIndexAndCount)
	p.pods.delayed = slices.CompactFunc(delayed, func(a, b int32) bool {
		return p.snap.Pods[a].Index == p.snap.Pods[b].Index
	})
}

func (p *Planner) byIndexAndCount(a, b *Pod) int {
	if a.Index != b.Index {
		return cmp.Compare(a.Index, b.Index)
	}
	if x, y := absoluteFailures(a), absoluteFailures(b); x != y {
		return cmp.Compare(y, x)
	}
	if c := laterFirst(finishTime(a), finishTime(b)); c != 0 {
		return c
	}
	if x, y := a.Owner == Orphan, b.Owner == Orphan; x != y {
		// Quirk: the reference looks at the pods that it adopts last.
		if x {
			return -1
		}
		return 1
	}
	return p.byAge(a, b)
}

// laterFirst compares finish times the other way round; one that is not known counts as
// the latest.
func laterFirst(a, b time.Time) int {
	if a.IsZero() != b.IsZero() {
		return falseFirst(!a.IsZero())
	}
	return b.Compare(a)
}

// absoluteFailures is the number of failures before this pod, ignored ones included.
func absoluteFailures(pod *Pod) int64 {
	detail := pod.detail()
	return int64(max(detail.FailureCount, 0)) + int64(max(detail.IgnoredFailureCount, 0))
}

// isDelayed reports whether the pod carries the failure count of its index.
func (p *Planner) isDelayed(place int32) bool {
	i, ok := p.delayedPod(p.snap.Pods[place].Index)
	return ok && i == place
}

// delayedPod returns the pod that carries the failure count of the index.
func (p *Planner) delayedPod(index int32) (place int32, ok bool) {
	at, ok := slices.BinarySearchFunc(p.pods.delayed, index, func(i int32, index int32) int {
		return cmp.Compare(p.snap.Pods[i].Index, index)
	})
	if !ok {
		return -1, false
	}
	return p.pods.delayed[at], true
}

// indexDue returns when the index that the failed pod ran may run again: the
// delay after its own failures, this one included (J31).
func (p *Planner) indexDue(place int32) time.Time {
	pod := &p.snap.Pods[place]
	failures := min(absoluteFailures(pod)+1, 1<<31-1)
	return p.finishedAt(pod).Add(p.snap.Options.Backoff.Delay(int(failures)))
}

// countsAfter returns the failure counts that the replacement of the pod
// carries (J18).
func (p *Planner) countsAfter(place int32) (counted, ignored int32) {
	pod := &p.snap.Pods[place]
	detail := pod.detail()
	counted, ignored = max(detail.FailureCount, 0), max(detail.IgnoredFailureCount, 0)
	if p.failureOf(pod).counts {
		return clamp32(int64(counted) + 1), ignored
	}
	return counted, clamp32(int64(ignored) + 1)
}
