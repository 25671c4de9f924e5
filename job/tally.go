package job

// tally are the figures that the rules decide by.
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
		succeeded:     int64(status.Succeeded) + int64(len(c.succeeded)) + int64(len(lists.left.Succeeded)) + lists.succeeded,
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
