package cronjob

import "github.com/batchplan/batchplan/job"

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
			all = append(all, Deletion{Reference: ref, Reason: DeleteReplaced})
		}
	}
	return all
}

// isSpared reports whether Replace leaves an active job alone, since a backfill started
// it.
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

// countSpared counts the active jobs that a run does not replace. Where a run waits until jobs are gone, so does the
// room of one that is being deleted and has left the active list.
func (c *census) countSpared() (n int) {
	for _, ref := range c.active {
		if c.isSpared(ref) {
			n++
		}
	}
	if c.whenGone {
		n += c.count(func(v verdict) bool { return v == childLeavingKept })
	}
	return n
}

// countLeft counts the jobs that are to be gone before the run starts: all running jobs
// of earlier runs, and all jobs to look up but those that it spares. The active list is not
// enough, since a job leaves it with its deletion.
func (c *census) countLeft() int {
	left := len(c.verify) + c.count(verdict.isReplaced)
	for i := range c.verify {
		if c.spared[c.verify[i].UID] {
			left--
		}
	}
	return left
}

// countBusy counts the jobs that a trigger or a backfill waits for: the active ones, and
// those that a run has replaced and whose pods are not gone.
func (c *census) countBusy() int {
	busy := len(c.active)
	if !c.whenGone {
		return busy
	}
	busy += c.count(verdict.isLeaving) + len(c.deleted)
	for _, ref := range c.active {
		if c.deleted[ref.UID] {
			busy-- // once is enough
		}
	}
	return busy
}

// replaceFirst deletes these jobs, pods included, unless they are being deleted already.
// Jobs of the active list come first, then the others in the order of their names (B3).
func replaceFirst(c *census) (all []Deletion) {
	add := func(ref Reference) {
		all = append(all, Deletion{Reference: ref, Reason: DeleteReplaced, Foreground: true})
	}
	for _, ref := range c.active {
		remove := !c.deleted[ref.UID] && !c.spared[ref.UID]
		if place := c.placeOf(ref.UID); place >= 0 {
			remove = c.verdicts[place].isToDelete()
		}
		if remove {
			add(ref)
		}
	}
	var others []Reference
	for i, v := range c.verdicts {
		if v == childForgotten {
			others = append(others, c.reference(i))
		}
	}
	sortReferences(others)
	for _, ref := range others {
		add(ref)
	}
	return all
}
