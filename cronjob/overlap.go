package cronjob

// replaceActive deletes what runs before the run starts (C12).
func (p *Planner) replaceActive() {
	if p.cj.Spec.ConcurrencyPolicy != Replace {
		return
	}
	for _, ref := range p.plan.basis.Status.Active {
		if !p.isSpared(ref) {
			p.plan.Delete = append(p.plan.Delete, Deletion{Reference: ref, Reason: DeleteReplaced})
		}
	}
}

// countSpared counts the active jobs that a run does not replace.
func (p *Planner) countSpared() (n int) {
	for _, ref := range p.plan.basis.Status.Active {
		if p.isSpared(ref) {
			n++
		}
	}
	return n
}

// countLeft counts the jobs that are to be gone before the run starts, with
// Options.ReplaceWhenGone: all running jobs of earlier runs, and those of which it is
// not known. The active list does not tell, since a job leaves it with its deletion.
func (p *Planner) countLeft() int {
	if !p.snap.Options.ReplaceWhenGone {
		return 0
	}
	left := len(p.plan.Verify)
	for i := range p.snap.Children {
		if p.isReplaced(i) {
			left++
		}
	}
	return left
}

// isReplaced reports whether a child is to be gone before the run starts: an active one,
// or one of a run or trigger that has left the active list with its deletion.
func (p *Planner) isReplaced(place int) bool {
	c := &p.snap.Children[place]
	if c.Owner != Owned || c.isFinished() || p.isBackfilled(c) {
		return false
	}
	return p.listed[place] || p.leaving[place] || !c.ScheduledTime.IsZero() ||
		!c.DeletionTimestamp.IsZero() && isTriggerName(p.cj.Name, c.Name)
}

// replaceFirst deletes these jobs, pods included, unless that is under way: those of the
// active list first, the others in the order of their names (B3).
func (p *Planner) replaceFirst() {
	for _, ref := range p.plan.basis.Status.Active {
		place := p.childOf(ref.UID)
		if place < 0 || p.isReplaced(place) && !p.isLeaving(place) {
			p.deleteFirst(ref)
		}
	}
	for i := range p.snap.Children {
		if p.isReplaced(i) && !p.listed[i] && !p.isLeaving(i) {
			p.found = append(p.found, p.reference(&p.snap.Children[i]))
		}
	}
	sortReferences(p.found)
	for _, ref := range p.found {
		p.deleteFirst(ref)
	}
	p.found = p.found[:0]
}

// isLeaving reports whether a child is being deleted, as far as anybody knows.
func (p *Planner) isLeaving(place int) bool {
	return p.leaving[place] || !p.snap.Children[place].DeletionTimestamp.IsZero()
}

// deleteFirst deletes a job before the run starts. It may be gone at once, of which no
// backend need tell: so a round follows (CL4).
func (p *Planner) deleteFirst(ref Reference) {
	p.plan.basis.Unfinished = true
	p.plan.Delete = append(p.plan.Delete, Deletion{Reference: ref, Reason: DeleteReplaced, Foreground: true})
}
