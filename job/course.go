package job

// course describes what a round does with the job.
type course struct {
	// Action is empty if the round does not plan the job (J42).
	Action string `json:"action,omitempty"`
	// Stopped is true when the round records nothing: the job is not ours, has ended, or the
	// snapshot is stale.
	Stopped bool `json:"stopped,omitempty"`
	// Managed is true when pods were managed.
	Managed bool `json:"managed,omitempty"`
	// More is true when more pods could be created now than one round creates.
	More bool `json:"more,omitempty"`
	// Capped is true when more pods finished than one round may record (J35).
	Capped bool `json:"capped,omitempty"`
	// Idle is true when the round writes nothing, so that the job stays as it is.
	Idle bool `json:"idle,omitempty"`
}

// isIdle reports whether the round writes nothing: neither to a pod nor to the status.
func isIdle(plan *Plan, b *basis) bool {
	writes := len(plan.Adopt) + len(plan.Release) + len(plan.Groups) +
		len(plan.Delete) + len(plan.Create) + len(plan.Untrack)
	if writes > 0 || declaredEnd(plan.Verdict, b, b.Counts.Active).decided() {
		return false
	}

	if b.Course.Managed && suspensionTurns(&b.Facts) {
		return false
	}

	status := withFigures(b.Facts.Status, b, &b.Counts)
	setUncounted(&status, b.Counts.Uncounted)
	return equalStatus(&b.Facts.Status, &status)
}
