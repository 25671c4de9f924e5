package cronjob

import (
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
)

// countLeft counts the jobs that must be gone before the run starts: all running jobs of earlier
// runs, and all jobs to look up, except those that the run spares. The active list is not enough,
// because a deleted job leaves it.
func (c *census) countLeft() int {
	left := len(c.verify) + c.count(toBeGone)
	for i := range c.verify {
		if c.spared[c.verify[i].UID] {
			left--
		}
	}
	return left
}

// waitUntilGone deletes the jobs that the run replaces, and waits until they are gone. A job may be
// gone immediately, and no backend has to report that, so another round follows (CL4).
func waitUntilGone(s *Snapshot, c *census, t *timing, o obstacle, m *memory) moves {
	held := hold(s, t, o)
	held.remove = replaceFirst(c)

	switch isStale := s.Options.Quirks.Has(cronjobquirk.Stale) && !s.Consistent; {
	case len(m.Replaced) > 0, isStale:
		held.Look = lookAgain(s.Now, t.due)
	}
	return held
}

// replaceFirst deletes the jobs that must be gone, with their pods, before the run starts. It skips
// those that are being deleted already. Jobs of the active list come first, then the others sorted
// by name (B3).
func replaceFirst(c *census) (all []Deletion) {
	add := func(ref Reference) {
		all = append(all, Deletion{Reference: ref, Reason: cronjobreason.DeleteReplaced, Foreground: true})
	}

	for _, ref := range c.active {
		remove := !c.deleted[ref.UID] && !c.spared[ref.UID]
		if place := c.placeOf(ref.UID); place >= 0 {
			remove = c.verdicts[place].is(toReplace)
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

// countBusy counts the jobs that hold back a trigger or a backfill: the active jobs and, with
// ReplaceWhenGone, deleted jobs that are not gone yet.
func (c *census) countBusy() int {
	busy := len(c.active)
	if !c.whenGone {
		return busy
	}

	busy += c.count(leaving) + len(c.deleted)
	for _, ref := range c.active {
		if c.deleted[ref.UID] {
			busy-- // counted above
		}
	}
	return busy
}
