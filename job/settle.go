package job

import "github.com/batchplan/batchplan/internal/value"

// Settlement holds the second status of a round. Only Status stays valid after the plan has become
// invalid.
type Settlement struct {
	Status Status
	// Write is false when there is nothing to write: nothing has changed since the
	// recording, or the recording could not be written.
	Write bool

	recording Recording
	recorded  Reply
	untracked []Reply
}

// Settle returns the status to write after the finalizers are removed. UIDs move from the uncounted
// lists into the counters (J35, step 3). The final condition is added once nothing is left to count
// and no pod is terminating (J38).
//
// The arguments are the results of writing the recording's status and of removing each of its
// finalizers. The first one is ignored if there was nothing to write.
func (r *Recording) Settle(recorded Reply, untracked []Reply) Settlement {
	if r.plan == nil {
		r = &Recording{plan: new(Plan)}
	}
	if !r.Write {
		recorded = Reply{}
	}

	p := r.plan
	s := Settlement{Status: r.Status, recording: *r, recorded: recorded, untracked: untracked}
	b := &p.basis
	if b.isStopped() || !r.isWritten(recorded) {
		s.Status = b.Facts.Status
		return s
	}

	if len(r.Untrack) == 0 && !r.end.decided() {
		return s // nothing to count, and no end to reach
	}

	countUntracked(&s.Status, b.Facts.Indexed, r.Untrack, untracked)
	if r.end.decided() && isUntracked(r.Untrack, untracked) && mayFinish(b, &s.Status, r.terminating, r.end) {
		finish(&s.Status, &b.Facts, r.end)
	}

	s.Write = isToWrite(&r.Status, &s.Status, b.Facts.Indexed)
	return s
}

// countUntracked moves UIDs from the lists into the counters if their finalizers were removed. The
// successes of an Indexed job are counted by its indexes.
func countUntracked(status *Status, indexed bool, untrack []Untracking, untracked []Reply) {
	lists := status.UncountedTerminatedPods
	if lists == nil || len(untrack) == 0 {
		return
	}

	gone := make(map[UID]bool)
	for i := range untrack {
		if isDone(value.At(untracked, i).Result) {
			gone[untrack[i].UID] = true
		}
	}

	var left UncountedTerminatedPods
	var succeeded, failed int64
	left.Succeeded, succeeded = without(lists.Succeeded, gone)
	left.Failed, failed = without(lists.Failed, gone)

	if !indexed {
		status.Succeeded = clamp32(int64(status.Succeeded) + succeeded)
	}
	status.Failed = clamp32(int64(status.Failed) + failed)
	setUncounted(status, left)
}

func without(uids []UID, gone map[UID]bool) (left []UID, removed int64) {
	for _, uid := range uids {
		if !gone[uid] {
			left = append(left, uid)
		}
	}
	return left, int64(len(uids) - len(left))
}
