package job

// replacesOnlyFailed reports whether a terminating pod is neither failed nor
// replaced before it has ended (J7). A podFailurePolicy has to see how a pod ends, so
// it has the same effect as podReplacementPolicy Failed.
func replacesOnlyFailed(spec *Spec) bool {
	return spec.PodReplacementPolicy == ReplaceFailed || spec.PodFailurePolicy != nil
}

// heldByTerminating returns how many of the missing pods have to wait until a
// terminating pod has ended (J30).
func heldByTerminating(spec *Spec, t tally, missing int64) int64 {
	if !replacesOnlyFailed(spec) {
		return 0
	}
	return max(min(missing, t.terminating), 0)
}
