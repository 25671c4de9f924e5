package cronjob

// isSkipped gives the runs up that are due and that other jobs hold back, if
// Options.SkipHeld says so. The memory keeps them from starting late.
func (p *Planner) isSkipped() bool {
	if !p.snap.Options.SkipHeld {
		return false
	}
	p.plan.Basis.Memory.Since = p.latest
	return true
}

// isFull applies Options.MaxActive.
func (p *Planner) isFull() bool {
	limit, active := int(p.snap.Options.MaxActive), len(p.plan.Basis.Status.Active)
	if limit == 0 || active < limit || p.cj.Spec.ConcurrencyPolicy == Replace {
		return false
	}
	p.hold(active)
	return true
}

// isReplacing applies Options.ReplaceWhenGone: all running jobs of earlier runs are
// deleted, and the run waits until the children hold none of them. The active list
// does not tell, since a job leaves it with its deletion.
func (p *Planner) isReplacing() bool {
	if !p.snap.Options.ReplaceWhenGone || p.cj.Spec.ConcurrencyPolicy != Replace {
		return false
	}
	left := len(p.plan.Verify)
	for _, ref := range p.plan.Basis.Status.Active {
		if !p.isSpared(ref) {
			p.replaceFirst(ref, p.childOf(ref.UID))
		}
	}
	for i := range p.snap.Children {
		c := &p.snap.Children[i]
		if c.Owner != Owned || c.isFinished() || c.ScheduledTime.IsZero() && !p.listed[i] || p.isBackfilled(c) {
			continue
		}
		left++
		if !p.plan.Basis.Status.has(c.UID) {
			p.replaceFirst(p.reference(c), i)
		}
	}
	if left > 0 {
		p.hold(left)
	}
	return left > 0
}

// replaceFirst deletes a job, unless that is under way.
func (p *Planner) replaceFirst(ref Reference, place int) {
	if place < 0 || p.snap.Children[place].DeletionTimestamp.IsZero() {
		p.plan.Delete = append(p.plan.Delete, Deletion{Reference: ref, Reason: DeleteReplaced, Foreground: true})
	}
}
