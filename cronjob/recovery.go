package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
)

// recoverStarts records runs whose jobs were created but not recorded, because of a crash between
// the creation and the status write (CI3). Their name and annotation distinguish them from jobs
// that were made by hand. The controller of Kubernetes finds only the job of the due run, by trying
// to create it (C14).
func (c *census) recoverStarts(s *Snapshot) {
	recorded := s.CronJob.Status.LastScheduleTime
	for i := range c.children {
		child := &c.children[i]
		if child.Foreign {
			continue // its verdict is zero
		}

		isRun := c.isUnrecordedRun(child, recorded) && !s.Options.Quirks.Has(cronjobquirk.BlindCreate)
		if isRun {
			c.lastRun = later(c.lastRun, child.ScheduledTime)
		}
		switch {
		case child.isFinished(), c.isStuck(child), c.marks[i].is(markNamed | markGone):
		case isRun, c.isRequested(child):
			c.takeIn(i)
		}
		c.verdicts[i] = c.judge(i)
	}
	c.addFound()
}

// isUnrecordedRun reports whether a child is the job of a run of the schedule that is later than
// the last one recorded.
func (f *family) isUnrecordedRun(child *Child, recorded time.Time) bool {
	return child.ScheduledTime.After(recorded) && !child.Backfilled && f.names.of(child.ScheduledTime).is(child.Name)
}

// isRequested reports whether a child is the job of a trigger or a backfill.
func (f *family) isRequested(child *Child) bool {
	return f.isTriggered(child.Name) || f.isBackfilled(child) && !f.isOut(child)
}

// countUnsettled counts the active jobs that no run may replace yet. Such a job is the only proof
// that its run has started: the run is not recorded or not accounted for, or its trigger or
// backfill is not settled. If the job were deleted and a crash followed before the status write,
// the run could start again (CI1) or be reported as unstarted. With ReplaceWhenGone, jobs outside
// of the active list count too, because they are also deleted.
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

// aMoment is the time until the next round, if that round needs nothing but the memory of this
// round.
const aMoment = time.Second

// isUnaccounted reports whether the snapshot's memory does not account for a run that has a job.
// This happens after a crash. The job must be kept until the memory accounts for the run: after
// another crash, only the job shows that the run has started (C9).
func (c *census) isUnaccounted(run time.Time) bool {
	return !c.accounted.IsZero() && run.After(c.accounted)
}

// untilAccounted returns the time of the round in which all active jobs are accounted for, or zero
// if they are accounted for now.
func (c *census) untilAccounted(now time.Time) time.Time {
	for _, ref := range c.active[:c.kept] {
		if c.isUnaccounted(c.runOf(ref)) {
			return now.Add(aMoment)
		}
	}
	return time.Time{}
}
