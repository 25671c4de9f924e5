package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
)

// recoverStarts records the jobs of runs that were created and not recorded: the
// traces of a crash between the creation and the status write (CI3). The name
// together with the annotation tells them from jobs that were made by hand.
// The reference only finds the job of the run that is due, by trying to create it
// again (C14).
func (c *census) recoverStarts(s *Snapshot) {
	recorded := s.CronJob.Status.LastScheduleTime
	for i := range c.children {
		child := &c.children[i]
		if child.Foreign {
			continue // as the zero verdict says
		}

		isRun := c.isUnrecordedRun(child, recorded) && !s.Options.Quirks.Has(cronjobquirk.BlindCreate)
		if isRun {
			c.lastRun = later(c.lastRun, child.ScheduledTime)
		}
		switch {
		case child.isFinished(), c.marks[i].is(markNamed | markGone):
		case isRun, c.isRequested(child):
			c.takeIn(i)
		}
		c.verdicts[i] = c.judge(i)
	}
	c.addFound()
}

// isUnrecordedRun reports whether a child has the name of a run of the schedule that is
// later than the last one recorded.
func (f *family) isUnrecordedRun(child *Child, recorded time.Time) bool {
	return child.ScheduledTime.After(recorded) && !child.Backfilled && f.names.of(child.ScheduledTime).is(child.Name)
}

// isRequested reports whether a child is the job of a trigger or a backfill.
func (f *family) isRequested(child *Child) bool {
	return isTriggered(f.triggers, f.names.cronJob, child.Name) || f.isBackfilled(child) && !f.isOut(child)
}

// countUnsettled counts the active jobs that are not recorded or not accounted for, or whose
// trigger or backfill is not settled. A run must not replace these: after their deletion and a
// crash before the status write no trace of them would be left, and they could start
// again (CI1), or count as unstarted. ReplaceWhenGone also deletes jobs that the active list does
// not name.
func (c *census) countUnsettled() int {
	n := len(c.active) - c.kept
	for _, ref := range c.active[:c.kept] {
		switch run := c.runOf(ref); {
		case c.isSpared(ref):
		case c.isAwaited(ref.Name, run), c.isUnaccounted(run):
			n++
		}
	}
	if !c.whenGone || c.awaited == nil {
		return n
	}
	for i, v := range c.verdicts {
		if child := &c.children[i]; v == childForgotten && c.isAwaited(child.Name, child.ScheduledTime) {
			n++
		}
	}
	return n
}

// aMoment is how long a round waits for the next one, which decides from its memory.
const aMoment = time.Second

// isUnaccounted reports whether the snapshot's memory does not account for a run that has a
// job: after a crash, this round is the first to see it. Without the job and after another crash,
// nothing would tell that the run has started (C9).
func (c *census) isUnaccounted(run time.Time) bool {
	return !c.accounted.IsZero() && run.After(c.accounted)
}

// untilAccounted returns when the active jobs will be accounted for, or zero if they are.
func (c *census) untilAccounted(now time.Time) time.Time {
	for _, ref := range c.active[:c.kept] {
		if c.isUnaccounted(c.runOf(ref)) {
			return now.Add(aMoment)
		}
	}
	return time.Time{}
}
