package cronjob

// mark is a fact about a child from the status or the memory, on which its verdict depends.
type mark uint8

const (
	// markNamed: the active list contains the child.
	markNamed mark = 1 << iota
	// markDeleted: the child was deleted, but does not show that yet.
	markDeleted
	// markGone: a look-up or a deletion has found that the child is gone.
	markGone
)

// is reports whether any of these marks is set.
func (m mark) is(these mark) bool { return m&these != 0 }

// verdict is a round's judgement of one child. Every rule about the CronJob's jobs reads it. Each
// verdict is a bit, so that a rule can combine several.
type verdict uint16

// childForeign: the child is not controlled by the CronJob (C1). Only its name matters.
const childForeign verdict = 0

const (
	// childEnded: the child has ended, and the history may delete it (C2).
	childEnded verdict = 1 << iota
	// childEndedNamed: the child has ended, but a status may list it, so the history must not delete
	// it yet.
	childEndedNamed

	// childActive: the child runs and is in the active list. Replace deletes it (C12).
	childActive
	// childActiveLeaving: like childActive, but the child is being deleted, or this controller has
	// deleted it.
	childActiveLeaving
	// childActiveKept: the child is in the active list, but no run replaces it, because a backfill
	// has started it, or because the job is gone although the snapshot shows it.
	childActiveKept

	// childLeaving: the child left the active list when it was deleted. ReplaceWhenGone waits until
	// it is gone.
	childLeaving
	// childLeavingKept: like childLeaving, but no run waits for the child: a backfill started it.
	childLeavingKept
	// childLeavingOther: like childLeaving, but the CronJob has not started the child, or it is
	// gone.
	childLeavingOther
	// childGone: the child seems to run but is gone.
	childGone

	// childStuck: the child has been terminating for too long to hold anything back (C21).
	childStuck

	// childForgotten: a run of the schedule started the child. It still runs, but the active list
	// lacks it (C3). ReplaceWhenGone deletes it.
	childForgotten
	// childUnexpected: the child runs for an unknown reason (C3).
	childUnexpected
)

const (
	// toReplace are the jobs to delete before a run of Replace starts. toBeGone adds jobs that are
	// being deleted already.
	toReplace = childActive | childForgotten
	toBeGone  = toReplace | childActiveLeaving | childLeaving
	// leaving are jobs that left the active list when they were deleted.
	leaving = childLeaving | childLeavingKept | childLeavingOther
	// unexpected are running jobs that the active list lacks (C3).
	unexpected = childForgotten | childUnexpected
)

// is reports whether v is one of these verdicts.
func (v verdict) is(these verdict) bool { return v&these != 0 }

// count counts the children with one of these verdicts.
func (c *census) count(these verdict) (n int) {
	for _, v := range c.verdicts {
		if v.is(these) {
			n++
		}
	}
	return n
}

// judge returns the verdict on a child.
func (c *census) judge(place int) verdict {
	child, m := &c.children[place], c.marks[place]
	named, gone := m.is(markNamed), m.is(markGone)
	deleted := m.is(markDeleted) || child.isDeleted()

	// The child is in the active list or has ended.
	switch {
	case child.Foreign:
		return childForeign
	case child.isFinished():
		if named {
			return childEndedNamed
		}
		return childEnded
	case c.isStuck(child):
		return childStuck
	case !named:
	case gone, c.isBackfilled(child):
		return childActiveKept
	case deleted:
		return childActiveLeaving
	default:
		return childActive
	}

	// The child runs and is not in the active list.
	if c.isOut(child) {
		switch {
		case c.isBackfilled(child):
			return childLeavingKept
		case gone, !c.isStarted(place):
			return childLeavingOther
		}
		return childLeaving
	}

	switch {
	case gone:
		return childGone
	case deleted:
		switch isStarted := c.isStarted(place); {
		case isStarted && c.replacing:
			return childLeaving
		case isStarted && c.timeout > 0: // it was stuck, and the clock went back or the timeout is longer now
			return childLeavingOther
		}
	case child.isOfRun():
		return childForgotten
	}
	return childUnexpected
}

// isOut reports whether a running child has left the active list because it is being deleted.
// Usually only a stuck child leaves the list. Under Replace, if no list is stored, every child that
// is being deleted leaves it, since Replace need not delete the child again. A finalizer may hold
// such a child for a long time. If the list contained the child, each round would find it again,
// and a run that waits until the child is recorded would never start (CL5).
func (f *family) isOut(child *Child) bool {
	if f.unstored {
		return child.isDeleted() && child.isRunning()
	}
	return f.isStuck(child)
}

// isStarted reports whether the CronJob has started a child: the child is of a run or a trigger, or
// the CronJob has deleted it.
func (c *census) isStarted(place int) bool {
	child := &c.children[place]
	switch {
	case child.isOfRun(), c.marks[place].is(markDeleted):
		return true
	}
	_, isTrigger := c.names.triggerNamed(child.Name)
	return isTrigger
}
