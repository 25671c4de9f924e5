package cronjob

import (
	"slices"

	"github.com/batchplan/batchplan/job"
)

// replaces applies Replace (C12) and Options.MaxActive. Jobs that the run replaces do
// not count against the limit; jobs that it spares do.
func replaces(c *census, o *Options) obstacle {
	if n := c.countUnsettled(); n > 0 {
		return obstacle{standing: isUnsettled, jobs: n}
	}
	if o.ReplaceWhenGone {
		if n := c.countLeft(); n > 0 {
			return obstacle{standing: isReplacing, jobs: n}
		}
	}
	return fills(o.MaxActive, c.countSpared())
}

// replaceActive deletes the active jobs that the run replaces (C12).
func replaceActive(plan *Plan, s *Snapshot, c *census) {
	if s.CronJob.Spec.ConcurrencyPolicy != Replace {
		return
	}
	for _, ref := range c.active {
		if !c.isSpared(ref) {
			plan.Delete = append(plan.Delete, Deletion{Reference: ref, Reason: DeleteReplaced})
		}
	}
}

// isSpared reports whether Replace leaves an active job alone, since a backfill started
// it.
func (c *census) isSpared(r Reference) bool {
	if place := c.placeOf(r.UID); place >= 0 {
		return c.isBackfilled(&c.children[place])
	}
	return slices.Contains(c.spared, r.UID)
}

// backfilledUIDs returns the UIDs of the started jobs of backfills.
func backfilledUIDs(starts []startedJob) (uids []job.UID) {
	for i := range starts {
		if starts[i].Backfilled {
			uids = append(uids, starts[i].UID)
		}
	}
	return uids
}

// countSpared counts the active jobs that a run does not replace.
func (c *census) countSpared() (n int) {
	for _, ref := range c.active {
		if c.isSpared(ref) {
			n++
		}
	}
	return n
}

// countLeft counts the jobs that are to be gone before the run starts: all running jobs
// of earlier runs, and all jobs to look up. The active list is not enough, since a job
// leaves it with its deletion.
func (c *census) countLeft() int {
	left := c.unseen
	for i := range c.children {
		if c.isReplaced(i) {
			left++
		}
	}
	return left
}

// isReplaced reports whether a child is to be gone before the run starts: an active one,
// or one of a run or trigger that has left the active list with its deletion.
func (c *census) isReplaced(place int) bool {
	child := &c.children[place]
	if child.Foreign || child.isFinished() || c.isBackfilled(child) {
		return false
	}
	return c.listed[place] || c.leaving[place] || !child.ScheduledTime.IsZero() ||
		!child.DeletionTimestamp.IsZero() && isTriggerName(c.cronJob, child.Name)
}

// isLeaving reports whether a child is known to have been deleted.
func (c *census) isLeaving(place int) bool {
	return c.leaving[place] || !c.children[place].DeletionTimestamp.IsZero()
}

// replaceFirst deletes these jobs, pods included, unless they are being deleted already.
// Jobs of the active list come first, then the others in the order of their names (B3).
func replaceFirst(plan *Plan, c *census) {
	for _, ref := range c.active {
		place := c.placeOf(ref.UID)
		if place < 0 || c.isReplaced(place) && !c.isLeaving(place) {
			deleteFirst(plan, ref)
		}
	}
	others := c.found
	for i := range c.children {
		if c.isReplaced(i) && !c.listed[i] && !c.isLeaving(i) {
			others = append(others, c.reference(i))
		}
	}
	sortReferences(others)
	for _, ref := range others {
		deleteFirst(plan, ref)
	}
}

// deleteFirst deletes a job before the run starts. The job may be gone at once, and no
// backend has to report that, so another round follows (CL4).
func deleteFirst(plan *Plan, ref Reference) {
	plan.basis.Unfinished = true
	plan.Delete = append(plan.Delete, Deletion{Reference: ref, Reason: DeleteReplaced, Foreground: true})
}
