package job

import "github.com/batchplan/batchplan/job/jobquirk"

// appendSuspended adds the deletions of all active pods of a suspended job. These pods
// are not going to be counted, so their finalizer goes first (J28). They are not limited
// to 500.
func appendSuspended(deletions []Deletion, s *Snapshot, buf *scratch) []Deletion {
	buf.active = activePods(buf.active[:0], s)
	return appendAll(deletions, s, buf.active, DeleteSuspended)
}

// recordSuspension turns the condition Suspended with spec.suspend. A condition
// is never added with status False. The deadline counts the time since the job
// was last resumed, so startTime goes and comes with the condition (J39).
func recordSuspension(status *Status, b *basis) {
	if !b.Suspend && status.find(ConditionSuspended) == nil {
		return
	}
	want := Condition{
		Type:               ConditionSuspended,
		Status:             ConditionFalse,
		LastProbeTime:      b.Now,
		LastTransitionTime: b.Now,
		Reason:             "JobResumed",
		Message:            "Job resumed",
	}
	start := b.Now
	if b.Suspend {
		want.Status, want.Reason, want.Message = ConditionTrue, "JobSuspended", "Job suspended"
		start = Status{}.StartTime
	}
	if turnsSuspended(status.Condition(ConditionSuspended), want, b.Quirks) {
		status.Conditions = withCondition(status.Conditions, want)
		status.StartTime = start
	}
}

// turnsSuspended reports whether the condition is to be replaced. A condition that
// says the same for another reason was set by another writer. It is left alone: the
// start time must not change with it.
func turnsSuspended(is, want Condition, quirks jobquirk.Set) bool {
	if quirks.Has(jobquirk.SuspendedRewritten) {
		sameText := is.Status == want.Status && is.Reason == want.Reason && is.Message == want.Message
		return !sameText && (is.Type != "" || want.Status == ConditionTrue)
	}
	return (is.Status == ConditionTrue) != (want.Status == ConditionTrue)
}
