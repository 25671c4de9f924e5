package job

// recordSuspension turns the condition Suspended with spec.suspend. A condition
// is never added with status False. The deadline counts the time since the job
// was last resumed, so startTime goes and comes with the condition (J39).
func recordSuspension(status *Status, b *Basis) {
	is := status.Condition(Suspended).Status == ConditionTrue
	switch {
	case b.Suspend && !is:
		status.setSuspended(ConditionTrue, "JobSuspended", "Job suspended", b)
		status.StartTime = Status{}.StartTime
	case !b.Suspend && is:
		status.setSuspended(ConditionFalse, "JobResumed", "Job resumed", b)
		status.StartTime = b.Now
	}
}

func (s *Status) setSuspended(to ConditionStatus, reason, message string, b *Basis) {
	s.Conditions = withCondition(s.Conditions, Condition{
		Type:               Suspended,
		Status:             to,
		LastProbeTime:      b.Now,
		LastTransitionTime: b.Now,
		Reason:             reason,
		Message:            message,
	})
}
