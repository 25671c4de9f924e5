package cronjob

// mark is what the status and the memory say about a child, before the round has judged it.
type mark uint8

const (
	// markNamed: the active list names it.
	markNamed mark = 1 << iota
	// markDeleted: it was deleted, and it does not show that yet.
	markDeleted
	// markGone: a look-up or a deletion has found that it is gone.
	markGone
)

// verdict is what a round makes of one child. Every rule about the CronJob's jobs reads it.
type verdict uint8

const (
	// childForeign: another owner controls it, or none (C1). Only its name matters.
	childForeign verdict = iota
	// childEnded: it has ended, and the history may delete it (C2).
	childEnded
	// childEndedNamed: it has ended, and a status names it, or may: the history spares it.
	childEndedNamed

	// childActive: it runs, and the active list names it. Replace deletes it (C12).
	childActive
	// childActiveLeaving: the same, and it is already deleted.
	childActiveLeaving
	// childActiveKept: the active list names it, and no run replaces it: a backfill has started it,
	// or it is gone.
	childActiveKept

	// childLeaving: it has left the active list with its deletion. ReplaceWhenGone waits for it.
	childLeaving
	// childLeavingKept: the same for the job of a backfill, which no run waits for.
	childLeavingKept
	// childLeavingOther: the same for a job that the CronJob has not started, or that is gone.
	childLeavingOther
	// childGone: it only seems to run.
	childGone

	// childForgotten: it runs for a run of the schedule, and the active list does not name it (C3).
	// ReplaceWhenGone deletes it.
	childForgotten
	// childUnexpected: it runs, and nothing says why (C3).
	childUnexpected
)

// judge returns the verdict on a child.
func (c *census) judge(place int) verdict {
	child, m := &c.children[place], c.marks[place]
	named, gone := m&markNamed != 0, m&markGone != 0
	deleted := m&markDeleted != 0 || !child.DeletionTimestamp.IsZero()

	switch {
	case child.Foreign:
		return childForeign
	case child.isFinished() && named:
		return childEndedNamed
	case child.isFinished():
		return childEnded
	case named && (gone || c.isBackfilled(child)):
		return childActiveKept
	case named && deleted:
		return childActiveLeaving
	case named:
		return childActive
	}

	// The active list does not name it.
	out := c.isOut(child)
	leaves := out || deleted && c.replacing
	started := m&markDeleted != 0 || c.isStarted(child)
	switch {
	case out && c.isBackfilled(child):
		return childLeavingKept
	case gone && !out:
		return childGone
	case leaves && started && !gone:
		return childLeaving
	case out:
		return childLeavingOther
	case !deleted && !child.ScheduledTime.IsZero():
		return childForgotten
	}
	return childUnexpected
}

// isOut reports whether a running child has left the active list with its deletion, where no list is
// stored that could tell: Replace has deleted it, or need not. A finalizer may hold the child for a
// long time. If the list took it in again, each round would find it again, and a run that waits until
// it is recorded would never start (CL5).
func (f *family) isOut(child *Child) bool {
	return f.unstored && !child.DeletionTimestamp.IsZero() && isRunning(child, "")
}

// isStarted reports whether the CronJob has started a child: for a run, or for a trigger.
func (f *family) isStarted(child *Child) bool {
	return !child.ScheduledTime.IsZero() || isTriggerName(f.names.cronJob, child.Name)
}

// isReplaced reports whether a child is to be gone before a run of Replace starts: an active one, or
// one of a run or trigger that the active list does not name.
func (v verdict) isReplaced() bool {
	return v.isToDelete() || v == childActiveLeaving || v == childLeaving
}

// isToDelete reports whether such a child is not deleted yet.
func (v verdict) isToDelete() bool { return v == childActive || v == childForgotten }

// isLeaving reports whether a child is on its way out, and the active list does not name it any more.
func (v verdict) isLeaving() bool {
	return v == childLeaving || v == childLeavingKept || v == childLeavingOther
}

// isUnexpected reports whether a running child is one that the CronJob did not record (C3).
func (v verdict) isUnexpected() bool { return v == childForgotten || v == childUnexpected }

// count counts the children with a verdict.
func (c *census) count(is func(verdict) bool) (n int) {
	for _, v := range c.verdicts {
		if is(v) {
			n++
		}
	}
	return n
}
