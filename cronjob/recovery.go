package cronjob

import (
	"cmp"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
)

// recoverStarts records the jobs of runs that were created and not recorded: the
// traces of a crash between the creation and the status write (CI3). The name
// together with the annotation tells them from jobs that were made by hand.
// The reference only finds the job of the run that is due, by trying to create it
// again (C14).
func (c *census) recoverStarts(s *Snapshot, plan *Plan) {
	recorded, status := s.CronJob.Status.LastScheduleTime, &plan.basis.Status
	for i := range c.children {
		child := &c.children[i]
		if child.Foreign {
			continue
		}
		isRun := c.isUnrecordedRun(child, recorded) && !s.Options.Quirks.Has(cronjobquirk.BlindCreate)
		if isRun {
			status.LastScheduleTime = later(status.LastScheduleTime, child.ScheduledTime)
		}
		if child.isFinished() || c.listed[i] {
			continue
		}
		if isRun || isTriggered(c.triggers, c.cronJob, child.Name) || c.isBackfilled(child) {
			c.takeIn(i)
		} else {
			c.unlisted = true
		}
	}
	c.addFound(plan)
}

// isUnrecordedRun reports whether a child has the name of a run of the schedule that is
// later than the last one recorded.
func (c *census) isUnrecordedRun(child *Child, recorded time.Time) bool {
	return child.ScheduledTime.After(recorded) && !child.Backfilled && nameOfRun(c.cronJob, child.ScheduledTime).is(child.Name)
}

// countUnsettled counts the active jobs that are not recorded, or whose trigger or
// backfill is not settled. A run must not replace these: after their deletion and a
// crash before the status write no trace of them would be left, and they could start
// again (CI1).
func (c *census) countUnsettled() int {
	n := len(c.active) - c.kept
	for _, ref := range c.active[:c.kept] {
		if c.isAwaited(ref.Name, c.runOf(ref)) && !c.isSpared(ref) {
			n++
		}
	}
	return n
}

// sortReferences sorts the runs of a CronJob by their times: names whose numbers differ
// in length differ in length.
func sortReferences(refs []Reference) {
	slices.SortFunc(refs, func(a, b Reference) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
}
