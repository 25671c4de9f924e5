package job

import (
	"github.com/batchplan/batchplan/internal/jobrules"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
)

// appendSuspended adds the deletions of all active pods of a suspended job. These pods are not
// going to be counted, so their finalizer goes first (J28). There may be more than 500 deletions.
func appendSuspended(deletions []Deletion, s *Snapshot, buf *scratch) []Deletion {
	buf.active = activePods(buf.active[:0], s)
	return appendAll(deletions, s, buf.active, jobreason.DeleteSuspended)
}

// recordSuspension makes the condition Suspended follow spec.suspend. A condition is never added
// with status False (J39).
func recordSuspension(status *Status, f *facts) {
	if !suspensionTurns(f) {
		return
	}

	status.Conditions = withCondition(status.Conditions, suspension(f))
	status.StartTime = jobrules.StartTime(status.StartTime, f.Now, f.Suspend, f.Without)
}

// suspensionTurns reports whether the condition Suspended changes.
func suspensionTurns(f *facts) bool {
	is := f.Status.find(ConditionSuspended)
	if is == nil {
		return f.Suspend
	}
	return turnsSuspended(*is, suspension(f), f.Quirks)
}

// suspension returns the condition Suspended for the spec's suspend.
func suspension(f *facts) Condition {
	status, reason, message := jobrules.Suspension(f.Suspend)
	return Condition{
		Type:               ConditionSuspended,
		Status:             ConditionStatus(status),
		LastProbeTime:      f.Now,
		LastTransitionTime: f.Now,
		Reason:             reason,
		Message:            message,
	}
}

// turnsSuspended reports whether the condition must be replaced. A condition with the right status
// but another reason was set by another writer. It is left alone, so that the start time does not
// change.
func turnsSuspended(is, want Condition, quirks jobquirk.Set) bool {
	if quirks.Has(jobquirk.SuspendedRewritten) {
		sameText := is.Status == want.Status && is.Reason == want.Reason && is.Message == want.Message
		return !sameText && (is.Type != "" || want.Status == ConditionTrue)
	}
	return (is.Status == ConditionTrue) != (want.Status == ConditionTrue)
}
