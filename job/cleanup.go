package job

import (
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

// appendLeftBehind adds the finalizers that are still on the pods of a job that has ended. These
// pods are no longer counted (J36, M6).
func appendLeftBehind(untrack []Untracking, s *Snapshot, known *uidTable, buf *scratch) []Untracking {
	left := buf.active[:0]
	for i := range s.Pods {
		pod := &s.Pods[i]
		if isLeftBehind(pod) && known.facts(pod.UID)&uidUntracking == 0 {
			left = append(left, int32(i))
		}
	}

	sortPlaces(s.Pods, left, byAge)
	for _, i := range left {
		pod := &s.Pods[i]
		untrack = append(untrack, Untracking{PodRef: pod.ref(), As: jobreason.NotCounted, Ended: pod.isTerminal()})
	}
	buf.active = left
	return untrack
}

// MayUntrack reports whether a pod may lose the finalizer immediately because no round is going to
// count it (J36). Use it for pods that are in no snapshot, which could otherwise never be deleted.
// owner is the job that the pod's controller reference names; it is nil if no job has that name and
// UID. A pod keeps its finalizer as long as its job has not ended, and also if another controller
// manages that job. Do not ask about a pod whose controller is not a Job.
func MayUntrack(owner *Job, pod *Pod, o Options) bool {
	if owner == nil {
		return !pod.Untracked
	}
	_, ours := managerOf(&owner.Spec, &o)
	return isLeftBehind(pod) && ours && owner.Status.finished() != ""
}

// isLeftBehind reports whether a pod of a job that has ended or is gone still carries the
// job's finalizer.
func isLeftBehind(pod *Pod) bool { return pod.Owner <= jobpod.OwnedUnmatched && !pod.Untracked }
