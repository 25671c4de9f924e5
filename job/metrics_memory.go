package job

import (
	"slices"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// reported are the figures that the metrics of earlier rounds have reported. If a status has higher
// figures, the difference is still to be reported, even if it comes from a write that seemed to
// fail. Lower figures in an older snapshot change nothing (JI27).
type reported struct {
	// Known is false when nothing is known about earlier rounds. Then the metrics report the
	// changes since the snapshot.
	Known            bool   `json:"known,omitempty"`
	Succeeded        int32  `json:"succeeded,omitempty"`
	Failed           int32  `json:"failed,omitempty"`
	CompletedIndexes string `json:"completedIndexes,omitempty"`
	FailedIndexes    string `json:"failedIndexes,omitempty"`
	// Uncounted are UIDs in the uncounted list of failures. The metrics have reported whether these
	// pods match the podFailurePolicy.
	Uncounted []UID `json:"uncounted,omitempty"`
	Finished  bool  `json:"finished,omitempty"`
}

func (r *reported) equal(other *reported) bool {
	switch {
	case r.Known != other.Known,
		r.Succeeded != other.Succeeded,
		r.Failed != other.Failed,
		r.CompletedIndexes != other.CompletedIndexes,
		r.FailedIndexes != other.FailedIndexes,
		r.Finished != other.Finished:
		return false
	}
	return slices.Equal(r.Uncounted, other.Uncounted)
}

func reportedOf(s *Status) reported {
	r := reported{
		Known:            true,
		Succeeded:        s.Succeeded,
		Failed:           s.Failed,
		CompletedIndexes: s.CompletedIndexes,
		FailedIndexes:    value.Of(s.FailedIndexes),
		Finished:         s.finished() != "",
	}
	if s.UncountedTerminatedPods != nil {
		r.Uncounted = s.UncountedTerminatedPods.Failed
	}
	return r
}

// reported returns the figures that earlier rounds have reported or, without a memory, those of the
// snapshot.
func (b *basis) reported() reported {
	if !b.Carried.Memory.rest.Reported.Known || b.Facts.Quirks.Has(jobquirk.Miscount) {
		return reportedOf(&b.Facts.Status)
	}
	return b.Carried.Memory.rest.Reported
}

// reportedNext returns the figures that this and all earlier rounds have reported. A status write
// is conditional, so its success shows that the snapshot was up to date.
func (a *aftermath) reportedNext(before, after *reported) reported {
	if a.Facts.Quirks.Has(jobquirk.Miscount) {
		return reported{}
	}

	next, uids := *after, before.Uncounted
	if a.recorded && len(a.untrack) > 0 {
		uids = union(uids, uidsOf(a.untrack))
	}
	if a.outcome.wroteStatus() {
		next.Uncounted = common(next.Uncounted, uids)
		return next
	}

	// A UID that is only in the snapshot's list was put there by a write that seemed to fail. It is
	// reported when its finalizer is removed.
	next.Uncounted = uids
	return before.later(next)
}

// uidsOf returns the UIDs of pods that lose their finalizers.
func uidsOf(untrack []Untracking) []UID {
	uids := make([]UID, len(untrack))
	for i := range untrack {
		uids[i] = untrack[i].UID
	}
	return uids
}

// common returns the UIDs that are in both lists, in the order of the first.
func common(a, b []UID) (both []UID) {
	if len(a) == 0 {
		return nil
	}

	set := expectations.NewUIDs(b...)
	for _, uid := range a {
		if set.Has(uid) {
			both = append(both, uid)
		}
	}
	return both
}

// later returns the greater value of each figure of r and next. It returns the UIDs of next, which
// include all UIDs of r.
func (r reported) later(next reported) reported {
	next.Succeeded = max(r.Succeeded, next.Succeeded)
	next.Failed = max(r.Failed, next.Failed)
	next.Finished = r.Finished || next.Finished

	if indexset.Added(next.CompletedIndexes, r.CompletedIndexes) > 0 {
		next.CompletedIndexes = r.CompletedIndexes
	}
	if indexset.Added(next.FailedIndexes, r.FailedIndexes) > 0 {
		next.FailedIndexes = r.FailedIndexes
	}
	return next
}

func union(a, b []UID) []UID {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
