package job

// appendLeftBehind adds the finalizers that a job which has ended left behind. Nothing
// can be counted any more (J36, M6).
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
		untrack = append(untrack, Untracking{PodRef: pod.ref(), As: NotCounted, Ended: pod.isTerminal()})
	}
	buf.active = left
	return untrack
}

// Orphans returns the pods that still carry the finalizer of a job that does not
// exist any more: remove it from them, or they can never be deleted (J36). Pass
// the pods whose controller reference names a job of that UID; pods of a job
// that another controller manages must not be among them.
func Orphans(pods []Pod) []PodRef {
	var out []PodRef
	for i := range pods {
		if isLeftBehind(&pods[i]) {
			out = append(out, pods[i].ref())
		}
	}
	sortRefs(out)
	return out
}

// isLeftBehind reports whether a pod of a job that has ended or is gone still carries the
// job's finalizer.
func isLeftBehind(pod *Pod) bool { return pod.Owner <= OwnedUnmatched && !pod.Untracked }
