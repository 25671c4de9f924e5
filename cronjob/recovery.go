package cronjob

import (
	"cmp"
	"slices"
)

// recoverStarts records the jobs of runs that were created and not recorded: the
// traces of a crash between the creation and the status write (CI3). The name
// together with the annotation tells them from jobs that somebody made by hand.
// The reference only finds the job of the run that is due, by trying to create it
// again (C14).
func (p *Planner) recoverStarts() {
	status := &p.plan.Basis.Status
	for i := range p.snap.Children {
		c := &p.snap.Children[i]
		isRun := p.isUnrecordedRun(c)
		if c.Owner != Owned || !isRun && !p.isTriggered(c.Name) && !p.isBackfilled(c) {
			continue
		}
		if isRun && c.ScheduledTime.After(status.LastScheduleTime) {
			status.LastScheduleTime = c.ScheduledTime
		}
		if !c.isFinished() && !p.listed[i] {
			p.takeIn(c)
		}
	}
	if found := status.Active[min(len(status.Active), p.kept):]; len(found) > 1 {
		slices.SortFunc(found, func(a, b Reference) int { // the order of the children must not matter
			return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
		})
	}
}

// isUnrecordedRun reports whether a child has the name of a run that is later
// than the last one recorded.
func (p *Planner) isUnrecordedRun(c *Child) bool {
	if !c.ScheduledTime.After(p.cj.Status.LastScheduleTime) || p.isBackfilled(c) || p.snap.Options.Slips.has(SlipBlindCreate) {
		return false
	}
	p.name = appendName(p.name[:0], p.cj.Name, c.ScheduledTime)
	return c.Name == string(p.name)
}

// takeIn adds a running child to the active list.
func (p *Planner) takeIn(c *Child) {
	status := &p.plan.Basis.Status
	status.Active = append(slices.Clip(status.Active), p.reference(c))
	p.plan.Unexpected = slices.DeleteFunc(p.plan.Unexpected, func(r Reference) bool { return r.UID == c.UID })
}

// isRecording holds a run back that would replace a job which is not recorded, or
// whose trigger or backfill is not settled: its deletion and a crash before the status write
// would leave no trace of that job, and it could start again (CI1).
func (p *Planner) isRecording() bool {
	if p.cj.Spec.ConcurrencyPolicy != Replace {
		return false
	}
	active := p.plan.Basis.Status.Active
	found := len(active) - p.kept
	for _, ref := range active[:p.kept] {
		if p.isAwaited(ref.Name, p.runOf(ref)) && !p.isSpared(ref) {
			found++
		}
	}
	if found == 0 {
		return false
	}
	p.plan.Basis.Unfinished = true
	p.wait(Wait{Reason: WaitRecord, Run: p.due, Jobs: found})
	return true
}
