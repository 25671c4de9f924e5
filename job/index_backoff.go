package job

import (
	"cmp"
	"slices"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/job/jobpod"
)

// failsIndex reports whether the failure of the pod fails its index (J16).
func failsIndex(pod *Pod, policy *failurePolicy, limit int32) bool {
	failure := policy.judge(pod)
	return failure.action == FailIndex || failure.counts && pod.detail().FailureCount >= limit
}

// carriers are the failed pods that carry the failure count of their index. places are their places
// in pods, in order of the index. Carriers keep their finalizer until the replacement exists (J17).
type carriers struct {
	pods   []Pod
	places []int32
}

// findCarriers finds a carrier for each index that is neither active, succeeded nor failed: the
// failed pod with the highest count that finished last (J17). It reuses buf.
func findCarriers(buf []int32, s *Snapshot, c *census, x *indexes) carriers {
	places := buf[:0]
	if !s.Job.Spec.limitsIndexes() {
		return carriers{s.Pods, places}
	}

	limit := indexLimit(&s.Job.Spec)
	for _, list := range [...][]int32{c.failed, c.recorded} {
		for _, i := range list {
			pod := &s.Pods[i]
			if hasIndexBelow(pod, limit) && !c.activeIndexes.Has(pod.index()) && !x.has(pod.index()) {
				places = append(places, i)
			}
		}
	}

	sortPlaces(s.Pods, places, byIndexAndCount)
	places = slices.CompactFunc(places, func(a, b int32) bool { return s.Pods[a].index() == s.Pods[b].index() })
	return carriers{s.Pods, places}
}

// of returns the place of the pod that carries the failure count of the index.
func (c carriers) of(index int32) (place int32, ok bool) {
	at, ok := slices.BinarySearchFunc(c.places, index, func(i int32, index int32) int {
		return cmp.Compare(c.pods[i].index(), index)
	})
	if !ok {
		return -1, false
	}
	return c.places[at], true
}

// has reports whether the pod is a carrier.
func (c carriers) has(place int32) bool {
	i, ok := c.of(c.pods[place].index())
	return ok && i == place
}

// byIndexAndCount orders failed pods by index. The first pod of each index is the one that carries
// the failure count.
func byIndexAndCount(a, b *Pod) int {
	if a.index() != b.index() {
		return cmp.Compare(a.index(), b.index())
	}
	if x, y := absoluteFailures(a), absoluteFailures(b); x != y {
		return cmp.Compare(y, x)
	}
	if c := laterFirst(finishTime(a), finishTime(b)); c != 0 {
		return c
	}
	if x, y := a.Owner == jobpod.Orphan, b.Owner == jobpod.Orphan; x != y {
		// Quirk: Kubernetes looks at adopted pods last, so that they win here.
		return falseFirst(!x)
	}
	return byAge(a, b)
}

// laterFirst orders finish times from the latest to the earliest. An unknown time counts as the
// latest.
func laterFirst(a, b time.Time) int {
	if a.IsZero() != b.IsZero() {
		return falseFirst(!a.IsZero())
	}
	return b.Compare(a)
}

// absoluteFailures returns the number of failures of the index before this pod, including ignored
// ones.
func absoluteFailures(pod *Pod) int64 {
	detail := pod.detail()
	return int64(max(detail.FailureCount, 0)) + int64(max(detail.IgnoredFailureCount, 0))
}

// indexDue returns the time at which the index of the failed pod may run again. The delay depends
// on all failures of the index, including this one (J31).
func indexDue(pod *Pod, untimed []sighting, policy backoff.Policy) time.Time {
	failures := min(absoluteFailures(pod)+1, 1<<31-1)
	return timeFinished(pod, untimed).Add(policy.Delay(int(failures)))
}

// countsAfter returns the failure counts that the replacement of the pod
// carries (J18).
func countsAfter(pod *Pod, policy *failurePolicy) (counted, ignored int32) {
	detail := pod.detail()
	counted, ignored = max(detail.FailureCount, 0), max(detail.IgnoredFailureCount, 0)

	if policy.judge(pod).counts {
		return clamp32(int64(counted) + 1), ignored
	}
	return counted, clamp32(int64(ignored) + 1)
}
