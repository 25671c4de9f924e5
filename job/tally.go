package job

// counts are the numbers of pods from which the status is computed.
type counts struct {
	// Active, Ready and Terminating are the pods before the plan's writes (J11).
	Active      int32 `json:"active,omitempty"`
	Ready       int32 `json:"ready,omitempty"`
	Terminating int32 `json:"terminating,omitempty"`
	// Succeeded is the number of successes, including those found in this round (J9).
	Succeeded int32 `json:"succeeded,omitempty"`
	// CountedSucceeded and CountedFailed are the status's counters plus the uncounted pods that
	// have lost the finalizer. Uncounted holds the UIDs of the remaining uncounted pods.
	CountedSucceeded int32                   `json:"countedSucceeded,omitempty"`
	CountedFailed    int32                   `json:"countedFailed,omitempty"`
	Uncounted        UncountedTerminatedPods `json:"uncounted,omitzero"`
}

func countsOf(status *Status, t tally, lists *backlog) counts {
	c := counts{
		Active:           clamp32(t.active),
		Ready:            clamp32(t.ready),
		Terminating:      clamp32(t.terminating),
		Succeeded:        clamp32(t.succeeded),
		CountedSucceeded: clamp32(int64(status.Succeeded) + lists.succeeded),
		CountedFailed:    clamp32(int64(status.Failed) + lists.failed),
	}

	// A reused planner has empty lists that are not nil. JSON would show them.
	if len(lists.left.Succeeded) > 0 {
		c.Uncounted.Succeeded = lists.left.Succeeded
	}
	if len(lists.left.Failed) > 0 {
		c.Uncounted.Failed = lists.left.Failed
	}
	return c
}

// tally holds the figures on which the rules decide.
type tally struct {
	// active, ready, terminating (J11) and restarts (J22) come from the census.
	active, ready, terminating, restarts int64
	// succeeded and failed are the totals of J9 and J10, including pods found in this
	// round. failedIndexes is the number of failed indexes (J16).
	succeeded, failed, failedIndexes int64
}

// tallyUp sums the successes (J9) and the failures (J10).
func tallyUp(s *Snapshot, found *findings) tally {
	status, c, lists := &s.Job.Status, found.pods, &found.lists
	t := tally{
		active:        c.active,
		ready:         c.ready,
		terminating:   c.terminating,
		restarts:      c.restarts,
		succeeded:     int64(status.Succeeded) + lists.succeeded + int64(len(c.succeeded)+len(lists.left.Succeeded)),
		failed:        int64(status.Failed) + int64(len(lists.left.Failed)) + lists.failed,
		failedIndexes: int64(found.indexes.failed.Len()),
	}

	if s.Job.Spec.isIndexed() {
		t.succeeded = int64(found.indexes.completed.Len())
	}

	for _, i := range c.failed {
		if found.policy.judge(&s.Pods[i]).counts {
			t.failed++
		}
	}
	return t
}
