package job

// replacesOnlyFailed reports whether a terminating pod counts as failed, and is replaced, only once
// it has ended (J7). A podFailurePolicy has to see how a pod ends, so it has the same effect as
// podReplacementPolicy Failed.
func replacesOnlyFailed(spec *Spec) bool {
	return spec.PodReplacementPolicy == ReplaceFailed || spec.PodFailurePolicy != nil
}

// countsAsFailed reports whether a pod counts as failed (J7): it has failed, or it is being deleted
// and the job does not wait for its end.
func countsAsFailed(pod *Pod, spec *Spec) bool {
	if pod.isTerminal() {
		return pod.Phase == PodFailed
	}
	return pod.Deletion != nil && !replacesOnlyFailed(spec)
}

// heldByTerminating returns how many of the missing pods have to wait until a
// terminating pod has ended (J30).
func heldByTerminating(spec *Spec, t tally, missing int64) int64 {
	if !replacesOnlyFailed(spec) {
		return 0
	}
	return max(min(missing, t.terminating), 0)
}
