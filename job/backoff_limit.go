package job

import "github.com/batchplan/batchplan/job/jobpod"

// pastBackoffLimit fails the job if its failures exceed backoffLimit (J22). With restartPolicy
// OnFailure, the restarts of pods that have not ended are also compared with it.
func pastBackoffLimit(spec *Spec, t tally) Verdict {
	limit := int64(*spec.BackoffLimit)
	past := t.failed > limit
	if spec.Template.RestartPolicy == RestartOnFailure {
		// Quirk: restarts need only reach the limit, while failures must exceed it.
		past = past || t.restarts >= max(limit, 1)
	}

	if !past {
		return Verdict{}
	}
	return Verdict{ConditionFailureTarget, "BackoffLimitExceeded", "Job has reached the specified backoff limit"}
}

// restartsCounted returns the restarts of a pod that count towards backoffLimit (J22). There are
// none if the pod has ended.
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
