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
	for i := range c.children {
		if c.whenGone && !c.listed[i] && c.isOut(i) && c.isBackfilled(&c.children[i]) {
			n++
		}
	}
	return n
}

// countLeft counts the jobs that are to be gone before the run starts: all running jobs
// of earlier runs, and all jobs to look up but those that it spares. The active list is not
// enough, since a job leaves it with its deletion.
func (c *census) countLeft() int {
	left := c.unseen
	for i := range c.verify {
		if c.spared[c.verify[i].UID] {
			left--
		}
	}
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
	leaving, isLeaving := c.leaving[place]
	if child.Foreign || child.isFinished() || leaving.Gone || c.isBackfilled(child) {
		return false
	}
	return c.listed[place] || isLeaving || !child.ScheduledTime.IsZero() ||
		!child.DeletionTimestamp.IsZero() && isTriggerName(c.names.cronJob, child.Name)
}

// isLeaving reports whether a child is known to have been deleted.
func (c *census) isLeaving(place int) bool {
	_, deleted := c.leaving[place]
	return deleted || !c.children[place].DeletionTimestamp.IsZero()
}

// isLeft reports whether a child is on its way out and the active list does not name it any more:
// Replace has deleted it, or need not.
func (c *census) isLeft(place int) bool {
	if c.listed[place] {
		return false
	}
	return c.isOut(place) || c.replacing && c.isLeaving(place) && c.isReplaced(place)
}

// countBusy counts the jobs that a trigger or a backfill waits for: the active ones, and
// those that a run has replaced and whose pods are not gone.
func (c *census) countBusy() int {
	busy := len(c.active)
	if !c.whenGone {
		return busy
	}
	for i := range c.children {
		if c.isLeft(i) {
			busy++
		}
	}
	for _, ref := range c.active {
		if c.deleted[ref.UID] {
			busy-- // once is enough
		}
	}
	return busy + len(c.deleted)
}

// replaceFirst deletes these jobs, pods included, unless they are being deleted already.
// Jobs of the active list come first, then the others in the order of their names (B3).
func replaceFirst(c *census) (all []Deletion) {
	add := func(ref Reference) {
		all = append(all, Deletion{Reference: ref, Reason: DeleteReplaced, Foreground: true})
	}
	for _, ref := range c.active {
		place := c.placeOf(ref.UID)
		if place < 0 && !c.deleted[ref.UID] && !c.spared[ref.UID] || place >= 0 && c.isReplaced(place) && !c.isLeaving(place) {
			add(ref)
		}
	}
	var others []Reference
	for i := range c.children {
		if c.isReplaced(i) && !c.listed[i] && !c.isLeaving(i) {
			others = append(others, c.reference(i))
		}
	}
	sortReferences(others)
	for _, ref := range others {
		add(ref)
	}
	return all
}
