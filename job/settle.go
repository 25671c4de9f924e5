package job

import "github.com/batchplan/batchplan/internal/value"

// Settlement is the second status of a round. It is valid as long as its plan.
type Settlement struct {
	Status Status
	// Write is false when there is nothing to write: nothing has changed since the
	// recording, or the recording could not be written.
	Write bool

	recording Recording
	recorded  Result
	untracked []Result
}

// Settle returns what to write after the finalizers are gone: UIDs moved from
// the lists into the counters (J35, step 3), and the final condition once nothing
// is left to count and no pod is terminating (J38).
//
// The arguments are what became of writing the status and of removing each of the
// finalizers. Without a status to write, the first one does not matter.
func (r *Recording) Settle(recorded Result, untracked []Result) Settlement {
	if r.plan == nil {
		r = &Recording{plan: new(Plan)}
	}
	if !r.Write {
		recorded = ResultNotTried
	}
	p := r.plan
	s := Settlement{Status: r.Status, recording: *r, recorded: recorded, untracked: untracked}
	if p.basis.isStopped() || !r.isWritten(recorded) {
		s.Status = p.basis.Status
		return s
	}
	if len(r.Untrack) == 0 && !r.end.decided() {
		return s // nothing to count, and no end to reach
	}
	p.countUntracked(&s.Status, r.Untrack, untracked)
	if r.end.decided() && isUntracked(r.Untrack, untracked) && p.mayFinish(&s.Status) {
		p.finish(&s.Status, r.end)
	}
	s.Write = isToWrite(&r.Status, &s.Status, p.basis.Indexed)
	return s
}

// countUntracked moves the UIDs whose finalizers went from the lists into the
// counters. The successes of an Indexed job are counted by its indexes.
func (p *Plan) countUntracked(status *Status, untrack []Untracking, untracked []Result) {
	lists := status.UncountedTerminatedPods
	if lists == nil || len(untrack) == 0 {
		return
	}
	gone := make(map[UID]bool)
	for i := range untrack {
		if value.At(untracked, i).isDone() {
			gone[untrack[i].UID] = true
		}
	}
	var left UncountedTerminatedPods
	var succeeded, failed int64
	left.Succeeded, succeeded = without(lists.Succeeded, gone)
	left.Failed, failed = without(lists.Failed, gone)
	if !p.basis.Indexed {
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

// isUntracked reports whether every finalizer is gone. One that is left, also that
// of a pod which is not counted, puts the end off: a finished job is not planned
// for again.
func isUntracked(untrack []Untracking, untracked []Result) bool {
	for i := range untrack {
		if !value.At(untracked, i).isDone() {
			return false
		}
	}
	return true
}

// mayFinish reports whether nothing is left to wait for (J38), once the end is declared:
// then no pod is active.
func (p *Plan) mayFinish(status *Status) bool {
	lists := status.UncountedTerminatedPods
	return !p.basis.Capped &&
		(lists == nil || len(lists.Succeeded)+len(lists.Failed) == 0) &&
		value.Of(status.Terminating) == 0
}

// finish turns the verdict into the condition that ends the job (J38). A suspended job
// has no startTime, and an API server refuses an end without one, except for a
// suspended job with completions 0. Such a job starts and ends at once.
func (p *Plan) finish(status *Status, end Verdict) {
	hasNothingToDo := p.basis.Suspend && equalPointed(p.basis.Completions, new(int32))
	if status.StartTime.IsZero() && !hasNothingToDo {
		status.StartTime = p.basis.Now
	}
	condition := Condition{
		Type:               ConditionComplete,
		Status:             ConditionTrue,
		LastProbeTime:      p.basis.Now,
		LastTransitionTime: p.basis.Now,
		Reason:             end.Reason,
		Message:            end.Message,
	}
	if end.failed() {
		condition.Type = ConditionFailed
	} else {
		status.CompletionTime = p.basis.Now
		if status.CompletionTime.Before(status.StartTime) {
			// The clock has gone back; a status that ends before it starts is refused (JI17).
			status.CompletionTime = status.StartTime
		}
	}
	status.Conditions = withCondition(status.Conditions, condition)
}
