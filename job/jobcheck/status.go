package jobcheck

import (
	"slices"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

// Status checks a status before it is written: the rules of the API
// server (JI2, JI4, JI14, JI15, JI17, JI20), the conservation of pods (JI1, JI3), the
// indexes (JI6) and the end (JI8, JI16).
func (st *State) Status(next *job.Status) []Violation {
	var f found
	st.checkNumbers(&f, next)
	st.checkList(&f, next, jobreason.CountedSucceeded)
	st.checkList(&f, next, jobreason.CountedFailed)
	st.checkConditions(&f, next)
	st.checkEnd(&f, next)
	st.checkIndexes(&f, next)
	return f
}

func (st *State) checkNumbers(f *found, s *job.Status) {
	old := &st.Job.Status
	ready, terminating := value.Of(s.Ready), value.Of(s.Terminating)

	isNegative := s.Active < 0 || s.Succeeded < 0 || s.Failed < 0
	isWrong := terminating < 0 || ready < 0 || ready > s.Active
	if isNegative || isWrong {
		f.add("JI20", "ready %d, active %d, terminating %d, succeeded %d, failed %d",
			ready, s.Active, terminating, s.Succeeded, s.Failed)
	}

	shrunk := st.Job.Spec.CompletionMode == job.Indexed && st.History.Edited
	if s.Failed < old.Failed || s.Succeeded < old.Succeeded && !shrunk {
		f.add("JI4", "succeeded %d -> %d, failed %d -> %d", old.Succeeded, s.Succeeded, old.Failed, s.Failed)
	}
}

// checkList checks that each UID enters a list once and leaves it once, and that the counter rises
// by the number of UIDs that leave (JI1, JI2, JI3).
func (st *State) checkList(f *found, s *job.Status, as jobreason.Counted) {
	was, is := value.Of(st.Job.Status.UncountedTerminatedPods), value.Of(s.UncountedTerminatedPods)
	before, after, other := was.Succeeded, is.Succeeded, was.Failed
	if as == jobreason.CountedFailed {
		before, after, other = was.Failed, is.Failed, was.Succeeded
	}

	for n, uid := range after {
		switch {
		case uid == "" || slices.Contains(after[:n], uid):
			f.add("JI2", "UID %q is a duplicate or empty in %s", uid, as)
		case as == jobreason.CountedSucceeded && slices.Contains(is.Failed, uid):
			f.add("JI2", "UID %q is in both lists", uid)
		case slices.Contains(other, uid):
			f.add("JI1", "UID %q moves from one list to the other, and is now in %s", uid, as)
		default:
			st.checkListed(f, s, uid, as)
		}
	}

	moved := int32(0)
	for _, uid := range before {
		if slices.Contains(after, uid) {
			continue
		}
		moved++
		if p := st.pod(uid); p != nil && !p.Untracked {
			f.add("JI3", "UID %q is counted and %s still has the finalizer", uid, p.Name)
		}
	}

	st.checkMoved(f, s, as, moved)
}

// checkListed checks one UID of a list.
func (st *State) checkListed(f *found, s *job.Status, uid job.UID, as jobreason.Counted) {
	switch counted := st.History.countedAs(uid); {
	case counted != jobreason.NotCounted && !st.History.Traveled:
		f.add("JI1", "UID %q was counted as %s and is recorded again as %s", uid, counted, as)
	case as == jobreason.CountedSucceeded:
		if l := st.History.Of(uid); l == nil || l.Ended != job.PodSucceeded {
			f.add("JI1", "UID %q has not succeeded", uid)
		}
	default:
		if p := st.pod(uid); p != nil && isActive(p) && !isTrue(s, job.ConditionFailureTarget) {
			f.add("J27", "UID %q is counted as failed but active, and the job goes on", uid)
		}
	}
}

// checkMoved checks that a counter rises by the number of UIDs that left its list.
func (st *State) checkMoved(f *found, s *job.Status, as jobreason.Counted, moved int32) {
	old := &st.Job.Status
	added := s.Failed - old.Failed
	if as == jobreason.CountedSucceeded {
		if st.Job.Spec.CompletionMode == job.Indexed {
			return // counted by index
		}
		added = s.Succeeded - old.Succeeded
	}

	if added != moved {
		f.add("JI1", "%s rises by %d, %d UIDs left the list", as, added, moved)
	}
}

// endConditions are the conditions that must stay True once they are.
var endConditions = [...]job.ConditionType{
	job.ConditionComplete,
	job.ConditionFailed,
	job.ConditionFailureTarget,
	job.ConditionSuccessCriteriaMet,
}

func (st *State) checkConditions(f *found, s *job.Status) {
	old := &st.Job.Status
	for _, t := range endConditions {
		if isTrue(old, t) && (!isTrue(s, t) || old.Condition(t) != s.Condition(t)) {
			f.add("JI14", "condition %s changes", t)
		}
		if old.Finished() != "" && isTrue(old, t) != isTrue(s, t) {
			f.add("JI14", "condition %s changes after the end", t)
		}
	}

	complete, failed := isTrue(s, job.ConditionComplete), isTrue(s, job.ConditionFailed)
	met, target := isTrue(s, job.ConditionSuccessCriteriaMet), isTrue(s, job.ConditionFailureTarget)
	failsUnannounced := failed && !target
	completesUnannounced := complete && !met && !st.isUnannounced()
	succeeds, fails := complete || met, failed || target
	isContradictory := succeeds && fails
	if isContradictory || failsUnannounced || completesUnannounced {
		f.add("JI15", "Complete=%v Failed=%v SuccessCriteriaMet=%v FailureTarget=%v", complete, failed, met, target)
	}

	if complete == s.CompletionTime.IsZero() || complete && s.CompletionTime.Before(s.StartTime) {
		f.add("JI17", "Complete=%v, completion time %v, start time %v", complete, s.CompletionTime, s.StartTime)
	}
	turned := isTrue(old, job.ConditionSuspended) != isTrue(s, job.ConditionSuspended)
	if !turned && !old.StartTime.IsZero() && !old.StartTime.Equal(s.StartTime) {
		f.add("JI17", "start time %v -> %v", old.StartTime, s.StartTime)
	}
}

// checkEnd checks JI8 and the second half of JI16.
func (st *State) checkEnd(f *found, s *job.Status) {
	if s.Finished() == "" || st.Job.Status.Finished() != "" {
		return
	}

	if u := value.Of(s.UncountedTerminatedPods); len(u.Succeeded)+len(u.Failed) > 0 {
		f.add("JI8", "the job ends with uncounted pods %v", u)
	}
	stopped := s.Active == 0 && s.Terminating != nil && *s.Terminating == 0
	isUnannounced := isTrue(s, job.ConditionComplete) && st.isUnannounced()
	unknown := s.Active == 0 && s.Terminating == nil && isUnannounced
	if !stopped && !unknown {
		f.add("JI8", "the job ends with active or terminating pods")
	}

	h := st.History
	mayMissPods := h.Late && (h.Restarted || h.LostCreates > 0)
	if mayMissPods || h.Traveled || h.Lagged {
		return
	}
	for _, p := range st.Pods {
		switch {
		case p.Owner != jobpod.Owned:
		case isActive(p):
			f.add("JI16", "the job ends while %s is active", p.Name)
		case !h.Late && !p.Untracked && p.Phase >= job.PodSucceeded:
			f.add("JI8", "the job ends while %s has the finalizer", p.Name)
		}
	}
}

// checkIndexes checks JI6.
func (st *State) checkIndexes(f *found, s *job.Status) {
	if st.Job.Spec.CompletionMode != job.Indexed {
		return
	}

	var completed, failed indexset.Set
	completions := *st.Job.Spec.Completions
	completed.AddText(s.CompletedIndexes, completions)
	if string(completed.AppendText(nil)) != s.CompletedIndexes || completed.Len() != int(s.Succeeded) {
		f.add("JI6", "completedIndexes %q, succeeded %d", s.CompletedIndexes, s.Succeeded)
	}

	if s.FailedIndexes != nil {
		failed.AddText(*s.FailedIndexes, completions)
		if string(failed.AppendText(nil)) != *s.FailedIndexes || indexset.Common(&completed, &failed) > 0 {
			f.add("JI6", "failedIndexes %q, completedIndexes %q", *s.FailedIndexes, s.CompletedIndexes)
		}
	}

	succeeded := st.History.succeeded()
	if completed.Remove(&succeeded); completed.Len() > 0 {
		f.add("JI6", "completed indexes %.80s: none of their pods has succeeded", completed.AppendText(nil))
	}
}
