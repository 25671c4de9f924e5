package job

import (
	"math"
	"strconv"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/internal/jobrules"
	"github.com/batchplan/batchplan/internal/value"
)

// indexes are the succeeded (J14) and the failed (J16) indexes of an Indexed job, for the
// lists of its status. The two sets are disjoint (JI6). creation.go chooses the indexes to
// create next.
type indexes struct {
	completed, failed indexset.Set
	// completedSame and failedSame are the sizes of the sets that the status already lists. While a
	// set has that size, its list need not be written again; -1 means that it must be.
	completedSame, failedSame int
	// spare is a buffer for temporary sets.
	spare indexset.Set
	text  []byte
}

// reset empties the sets and keeps their buffers.
func (x *indexes) reset() {
	x.completed.Reset()
	x.failed.Reset()
	x.completedSame, x.failedSame = 0, 0
}

// find fills the sets from the status and from the pods that have ended. An index that the status
// lists stays in its list. For any other index, success wins over failure (JI6).
func (x *indexes) find(s *Snapshot, c *census, policy *failurePolicy, notes *noteList) {
	x.reset()
	spec, status := &s.Job.Spec, &s.Job.Status
	if !spec.isIndexed() {
		return
	}

	x.completedSame = readIndexes(&x.completed, "job.status.completedIndexes",
		status.CompletedIndexes, *spec.Completions, notes)
	if spec.limitsIndexes() && status.FailedIndexes != nil {
		x.failedSame = readIndexes(&x.failed, "job.status.failedIndexes",
			*status.FailedIndexes, *spec.Completions, notes)
		x.separate(*status.FailedIndexes, notes)
	}

	// A recorded pod that was counted as failed while it was being deleted may have succeeded after
	// all. Then it completes its index, since running the index again would be a waste.
	for _, places := range [...][]int32{c.succeeded, c.inFlight, c.recorded} {
		x.addCompleted(s, places)
	}

	if spec.limitsIndexes() {
		for _, places := range [...][]int32{c.failed, c.recorded, c.inFlight} {
			x.addFailed(s, places, policy)
		}
	}
}

// readIndexes reads an index list, clipped to completions (J15). A corrupt piece is skipped, not
// fatal (J14). It returns the size of the set, or -1 if the text must be written again because it
// is not canonical.
func readIndexes(set *indexset.Set, field, text string, completions int32, notes *noteList) (same int) {
	read := set.AddText(text, completions)
	for _, piece := range read.Corrupt {
		notes.add(field, strconv.Quote(piece), jobrules.CorruptPiece+"; left out")
	}

	if !read.Canonical {
		return -1
	}
	return set.Len()
}

// separate removes the completed indexes from the failed set, if the status lists some in both. An
// API server refuses every status that has an index in both lists.
func (x *indexes) separate(text string, notes *noteList) {
	if indexset.Common(&x.completed, &x.failed) == 0 {
		return
	}
	x.failed.Remove(&x.completed)
	x.failedSame = -1
	notes.add("job.status.failedIndexes", strconv.Quote(text), "has completed indexes; they are left out")
}

// addCompleted adds the indexes of pods that have succeeded.
func (x *indexes) addCompleted(s *Snapshot, places []int32) {
	limit := indexLimit(&s.Job.Spec)
	for _, i := range places {
		pod := &s.Pods[i]
		if pod.Phase == PodSucceeded && hasIndexBelow(pod, limit) && !x.failed.Has(pod.index()) {
			x.completed.Add(pod.index())
		}
	}
}

// addFailed adds the indexes of failed pods that are not to be retried.
func (x *indexes) addFailed(s *Snapshot, places []int32, policy *failurePolicy) {
	limit := indexLimit(&s.Job.Spec)
	for _, i := range places {
		pod := &s.Pods[i]
		if !hasIndexBelow(pod, limit) || x.has(pod.index()) {
			continue
		}
		if failsIndex(pod, policy, *s.Job.Spec.BackoffLimitPerIndex) {
			x.failed.Add(pod.index())
		}
	}
}

// has reports whether the index has succeeded or failed.
func (x *indexes) has(index int32) bool { return x.completed.Has(index) || x.failed.Has(index) }

// progress holds the index lists to record.
type progress struct {
	Completed      string  `json:"completed,omitempty"`
	CompletedCount int32   `json:"completedCount,omitempty"`
	Failed         *string `json:"failed,omitempty"`
}

// progress returns the index lists to record. Without backoffLimitPerIndex no index fails, and a
// list of failed indexes in the status is dropped.
func (x *indexes) progress(status *Status, spec *Spec) (p progress) {
	if !spec.isIndexed() {
		return p
	}
	p.Completed = x.format(&x.completed, status.CompletedIndexes, x.completedSame)
	p.CompletedCount = int32(min(x.completed.Len(), math.MaxInt32))

	switch {
	case !spec.limitsIndexes():
	case status.FailedIndexes == nil:
		p.Failed = value.To(x.format(&x.failed, "", 0))
	default:
		p.Failed = status.FailedIndexes
		if text := x.format(&x.failed, *status.FailedIndexes, x.failedSame); text != *status.FailedIndexes {
			p.Failed = value.To(text)
		}
	}
	return p
}

// format returns the text of the set, or argument old itself if the text has not changed. Indexes
// are only ever added to a set, so an unchanged size means an unchanged set.
func (x *indexes) format(set *indexset.Set, old string, same int) string {
	if set.Len() == same {
		return old
	}

	x.text = set.AppendText(x.text[:0])
	if string(x.text) == old {
		return old
	}
	return string(x.text)
}

// indexLimit returns the number of indexes of the job, 0 for a NonIndexed job.
func indexLimit(spec *Spec) int32 {
	if !spec.isIndexed() {
		return 0
	}
	return *spec.Completions
}

// lacksIndex reports whether the job is Indexed and the pod has no index in its range.
func lacksIndex(pod *Pod, spec *Spec) bool {
	return spec.isIndexed() && !hasIndexBelow(pod, indexLimit(spec))
}

// hasIndexBelow reports whether the pod has an index below the limit.
func hasIndexBelow(pod *Pod, limit int32) bool { return pod.Index.isBelow(limit) }
