package jobcheck

import (
	"slices"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

// State is the content of the source of truth before a write. The checks do not change it.
type State struct {
	Job     *job.Job
	Pods    []*job.Pod
	History *History
	// Groups are the workloads and pod groups.
	Groups jobgroup.Groups
	// Options are the options of the controller that affect the checks.
	Options job.Options
	// Find returns the pod of a UID, or nil if there is none. If Find is not set, the pods are
	// searched.
	Find func(uid job.UID) *job.Pod
}

func (st *State) pod(uid job.UID) *job.Pod {
	if st.Find != nil {
		return st.Find(uid)
	}
	for _, p := range st.Pods {
		if p.UID == uid {
			return p
		}
	}
	return nil
}

// Active counts the pods of the job that have neither ended nor are being deleted.
func Active(pods []*job.Pod) (n int64) {
	for _, p := range pods {
		if isActive(p) && p.Owner == jobpod.Owned {
			n++
		}
	}
	return n
}

func isActive(p *job.Pod) bool { return p.Phase < job.PodSucceeded && p.Deletion == nil }

// Create checks the creation of a pod: JI16, JI10, and its group (JI28). Argument active is the
// number of active pods after the creation.
func (st *State) Create(c *job.Creation, active int64) []Violation {
	f, h := st.member(c), st.History
	mayMissEnd := h.Late && h.LostStatus || h.Traveled
	if st.Job.Status.Finished() != "" && !mayMissEnd {
		f.add("JI16", "a pod is created after the end")
	}

	hasForgotten := h.Late && h.Restarted
	if hasForgotten || h.Traveled || h.Lagged {
		return f
	}
	if active > int64(h.MaxParallelism)+h.LostCreates {
		f.add("JI10", "%s, parallelism is at most %d, lost replies: %d",
			value.Count(active, "active pod"), h.MaxParallelism, h.LostCreates)
	}
	return f
}

// DeleteUntracked checks the removal of a finalizer from a pod that is about to be
// deleted (JI9).
func (st *State) DeleteUntracked(p *job.Pod) []Violation {
	var f found
	if !p.Untracked && p.Phase == job.PodSucceeded {
		f.add("JI9", "the success of %s is lost", p.Name)
	}
	return f
}

// Untrack checks the removal of the finalizer of a pod that has ended by itself (JI3, JI21).
func (st *State) Untrack(p *job.Pod) []Violation {
	var f found
	st.checkCarrier(&f, p)
	st.checkRecorded(&f, p)
	return f
}

// checkRecorded checks that the success of a pod is recorded before its finalizer is removed.
func (st *State) checkRecorded(f *found, p *job.Pod) {
	s := &st.Job.Status
	isTrackedSuccess := !p.Untracked && p.Phase == job.PodSucceeded
	// A job that is ending or has ended need not count any more pods.
	if !isTrackedSuccess || s.Finished() != "" || st.isEnding() {
		return
	}
	if l := st.History.Of(p.UID); l != nil && l.Removed || st.isRecorded(p) {
		return
	}
	f.add("JI3", "the finalizer of %s is removed, and its success is not recorded", p.Name)
}

// isRecorded reports whether the pod's success is recorded or counted. It is also true of a success
// that is never going to be counted.
func (st *State) isRecorded(p *job.Pod) bool {
	s := &st.Job.Status
	lists := value.Of(s.UncountedTerminatedPods)
	isListed := slices.Contains(lists.Succeeded, p.UID) || slices.Contains(lists.Failed, p.UID)
	if isListed || st.History.countedAs(p.UID) != jobreason.NotCounted {
		return true
	}
	if st.Job.Spec.CompletionMode != job.Indexed {
		return false
	}
	i := p.Index.Int32()
	return !isIndexOf(&st.Job.Spec, i) || isEnded(s, i)
}

// isEnding reports whether a condition has decided the end of the job, or the job is being deleted.
func (st *State) isEnding() bool {
	s := &st.Job.Status
	return isTrue(s, job.ConditionFailureTarget) || isTrue(s, job.ConditionSuccessCriteriaMet) ||
		!st.Job.DeletionTimestamp.IsZero()
}

// isEnded reports whether a status lists an index as completed or failed.
func isEnded(s *job.Status, i int32) bool {
	return indexset.Lists(s.CompletedIndexes, i) || indexset.Lists(value.Of(s.FailedIndexes), i)
}

// isUnannounced reports whether the job completes without SuccessCriteriaMet being set first.
func (st *State) isUnannounced() bool {
	return st.Options.NoSuccessCriteriaMet && st.Job.Spec.SuccessPolicy == nil
}

func isTrue(s *job.Status, t job.ConditionType) bool {
	return s.Condition(t).Status == job.ConditionTrue
}
