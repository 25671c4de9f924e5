package cronjob

import (
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
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
func replaceActive(c *census, policy ConcurrencyPolicy) (all []Deletion) {
	if policy != Replace {
		return nil
	}
	for _, ref := range c.active {
		if !c.isSpared(ref) {
			all = append(all, Deletion{Reference: ref, Reason: cronjobreason.DeleteReplaced})
		}
	}
	return all
}

// isSpared reports whether Replace does not delete an active job, because a backfill started it.
func (c *census) isSpared(r Reference) bool {
	if place := c.placeOf(r.UID); place >= 0 {
		return c.isBackfilled(&c.children[place])
	}
	return c.spared[r.UID]
}

// backfilledUIDs returns the UIDs of the started jobs of backfills.
func backfilledUIDs(starts []startedJob) (uids map[job.UID]bool) {
	for i := range starts {
		if starts[i].Backfilled {
			if uids == nil {
				uids = make(map[job.UID]bool)
			}
			uids[starts[i].UID] = true
		}
	}
	return uids
}

// countSpared counts the active jobs that a run does not replace. With ReplaceWhenGone it also
// counts such jobs that left the active list when they were deleted, until they are gone.
func (c *census) countSpared() (n int) {
	for _, ref := range c.active {
		if c.isSpared(ref) {
			n++
		}
	}
	if c.whenGone {
		n += c.count(childLeavingKept)
	}
	return n
}
