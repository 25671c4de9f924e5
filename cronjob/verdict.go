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

// is reports whether one of these marks is set.
func (m mark) is(these mark) bool { return m&these != 0 }

// verdict is what a round makes of one child. Every rule about the CronJob's jobs reads it. Each is a
// bit, so that a rule can name several.
type verdict uint16

// childForeign: another owner controls it, or none (C1). Only its name matters.
const childForeign verdict = 0

const (
	// childEnded: it has ended, and the history may delete it (C2).
	childEnded verdict = 1 << iota
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

const (
	// toReplace are jobs that are to be deleted before a run of Replace starts, toBeGone also those that
	// are on their way out.
	toReplace = childActive | childForgotten
	toBeGone  = toReplace | childActiveLeaving | childLeaving
	// leaving are on their way out, and the active list does not name them any more.
	leaving = childLeaving | childLeavingKept | childLeavingOther
	// unexpected run, and the CronJob did not record them (C3).
	unexpected = childForgotten | childUnexpected
)

// is reports whether a verdict is one of these.
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

	// The active list names it, or it has ended.
	switch {
	case child.Foreign:
		return childForeign
	case child.isFinished():
		if named {
			return childEndedNamed
		}
		return childEnded
	case !named:
	case gone, c.isBackfilled(child):
		return childActiveKept
	case deleted:
		return childActiveLeaving
	default:
		return childActive
	}

	// It runs beside the active list.
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
		if c.replacing && c.isStarted(place) {
			return childLeaving
		}
	case child.isOfRun():
		return childForgotten
	}
	return childUnexpected
}

// isOut reports whether a running child has left the active list with its deletion, where no list is
// stored that could tell: Replace has deleted it, or need not. A finalizer may hold the child for a
// long time. If the list took it in again, each round would find it again, and a run that waits until
// it is recorded would never start (CL5).
func (f *family) isOut(child *Child) bool {
	return f.unstored && child.isDeleted() && child.isRunning()
}

// isStarted reports whether the CronJob has started a child: for a run, or for a trigger. It would not
// have deleted another one.
func (c *census) isStarted(place int) bool {
	child := &c.children[place]
	switch {
	case child.isOfRun(), c.marks[place].is(markDeleted):
		return true
	}
	return isTriggerName(c.names.cronJob, child.Name)
}
