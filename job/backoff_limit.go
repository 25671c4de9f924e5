package job

import "github.com/batchplan/batchplan/job/jobpod"

// pastBackoffLimit compares the failures, and with restartPolicy OnFailure the
// restarts of pods that have not ended, with backoffLimit (J22).
func pastBackoffLimit(spec *Spec, t tally) Verdict {
	limit := int64(*spec.BackoffLimit)
	past := t.failed > limit
	if spec.Template.RestartPolicy == RestartOnFailure {
		// Quirk: restarts reach the limit where failed pods exceed it.
		past = past || t.restarts >= max(limit, 1)
	}

	if !past {
		return Verdict{}
	}
	return Verdict{ConditionFailureTarget, "BackoffLimitExceeded", "Job has reached the specified backoff limit"}
}

// restartsCounted are the restarts of a pod that has not ended, as far as they count
// towards backoffLimit (J22).
func restartsCounted(spec *Spec, pod *Pod) int64 {
	if spec.Template.RestartPolicy != RestartOnFailure {
		return 0
	}
	switch pod.Phase {
	case PodPending, PodRunning:
		return restarts(pod.detail().Containers)
	}
	return 0
}

// restarts sums the restarts of containers.
func restarts(containers []jobpod.Container) (sum int64) {
	for i := range containers {
		sum += int64(max(containers[i].Restarts, 0))
	}
	return sum
}
