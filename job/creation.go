package job

import (
	"strconv"
	"time"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/release"
)

// pendingIndex is an index to run, with the place of the failed pod that it replaces
// (-1 for none).
type pendingIndex struct {
	index    int32
	replaces int32
}

// creationPlan lists the pods that a round creates.
type creationPlan struct {
	// pending are the indexes to create, lowest first. A NonIndexed job has -1 for
	// each pod.
	pending []pendingIndex
	// more is true when the round leaves out pods that could be created now.
	more bool
	// waiting is the number of indexes that wait for their own backoff. due is the time at which
	// the first of them may run.
	waiting int64
	due     time.Time
}

// planCreations chooses which of the missing pods are created (J30). An Indexed job takes its
// lowest pending indexes (J33). It reuses buf.
func planCreations(buf []pendingIndex, s *Snapshot, found *findings, missing int64) creationPlan {
	count := min(missing, int64(s.Options.podWrites()))
	out := creationPlan{pending: buf[:0], more: missing > count}
	if s.Job.Spec.isIndexed() {
		out.pending = pendingIndexes(out.pending, *s.Job.Spec.Completions, count, found.pods, found.indexes)
		return out
	}

	for range count {
		out.pending = append(out.pending, pendingIndex{index: -1, replaces: -1})
	}
	return out
}

// planDueIndexes is planCreations for a job with backoffLimitPerIndex. It chooses the indexes whose
// own backoff is over. An index that waits still counts as one of the missing pods (J31).
func planDueIndexes(buf []pendingIndex, s *Snapshot, found *findings, missing int64) creationPlan {
	// Only an index with a carrier can wait. A carrier is a failed pod that holds the failure count
	// of its index. So there are at most as many waiting indexes as carriers, and further pending
	// indexes would change nothing.
	enough := int64(s.Options.podWrites() + len(found.carriers.places))
	if s.Options.Quirks.Has(jobquirk.WaitingTakeRoom) {
		enough = int64(s.Options.podWrites())
	}

	out := creationPlan{more: missing > enough}
	pending := pendingIndexes(buf[:0], *s.Job.Spec.Completions, min(missing, enough), found.pods, found.indexes)
	out.pending = pending[:0]
	for _, p := range pending {
		if place, ok := found.carriers.of(p.index); ok {
			p.replaces = place
			if due := indexDue(&s.Pods[place], found.untimed, s.Options.Backoff); s.Now.Before(due) {
				out.waiting++
				out.due = earliest(out.due, due)
				continue
			}
		}

		if len(out.pending) == s.Options.podWrites() {
			out.more = true
			continue
		}
		out.pending = append(out.pending, p)
	}
	return out
}

// pendingIndexes appends the lowest indexes that have no active pod, have neither succeeded nor
// failed, and do not wait for a terminating pod to end.
func pendingIndexes(dst []pendingIndex, completions int32, count int64, c *census, x *indexes) []pendingIndex {
	for i := int32(0); int64(len(dst)) < count; i++ {
		i = indexset.NextFree(i, completions, &x.completed, &x.failed, &c.activeIndexes, &c.leavingIndexes)
		if i >= completions {
			break
		}
		dst = append(dst, pendingIndex{index: i, replaces: -1})
	}
	return dst
}

// creationOf returns the creation for a pending index.
func creationOf(s *Snapshot, pending pendingIndex, found *findings, reason jobreason.Create) Creation {
	j := &s.Job
	c := Creation{Index: IndexAt(pending.index), NamePrefix: j.Name + "-", Reason: reason, Group: found.group}

	if j.Spec.isIndexed() {
		index := strconv.Itoa(int(pending.index))
		c.NamePrefix = indexedPrefix(j.Name, index)
		c.Hostname = j.Name + "-" + index
		c.PerIndex = j.Spec.limitsIndexes()
		c.Unlabeled = s.Options.Without.Has(release.PodIndexLabel)
	}

	if pending.replaces >= 0 {
		c.FailureCount, c.IgnoredFailureCount = countsAfter(&s.Pods[pending.replaces], &found.policy)
	}
	return c
}

// Pod returns the created pod, under the name and the UID that the backend has chosen. The pod is
// pending and has the finalizer, its index, and the failure counts of the index so far. A backend
// that loses these counts retries an index without end (J18).
func (c *Creation) Pod(name string, uid UID, created time.Time) Pod {
	return Pod{Name: name, UID: uid, Index: c.Index, Detail: &PodDetail{
		CreationTimestamp: created, FailureCount: c.FailureCount, IgnoredFailureCount: c.IgnoredFailureCount,
	}}
}

// createReason returns the reason of all creations of a round (J42).
func createReason(spec *Spec, t tally) jobreason.Create {
	switch {
	case t.failed > 0 && replacesOnlyFailed(spec):
		return jobreason.CreateReplacementOfFailed
	case t.failed > 0, t.terminating > 0:
		return jobreason.CreateReplacement
	}
	return jobreason.CreateNew
}

// indexedPrefix returns the prefix "job-index-". The job's name in it is cut so that a generated
// name has at most 63 characters (J33).
func indexedPrefix(name, index string) string {
	const longest = 58
	suffix := "-" + index + "-"
	return name[:min(len(name), longest-len(suffix))] + suffix
}
