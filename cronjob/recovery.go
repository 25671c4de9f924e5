package cronjob

import (
	"cmp"
	"slices"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
)

// recoverStarts records the jobs of runs that were created and not recorded: the
// traces of a crash between the creation and the status write (CI3). The name
// together with the annotation tells them from jobs that somebody made by hand.
// The reference only finds the job of the run that is due, by trying to create it
// again (C14).
func (p *Planner) recoverStarts() {
	status := &p.plan.basis.Status
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
			p.takeIn(i)
		}
	}
	p.addFound()
}

// takeIn finds a running child for the active list; addFound adds it.
func (p *Planner) takeIn(place int) {
	p.listed[place] = true
	p.found = append(p.found, p.reference(&p.snap.Children[place]))
}

// addFound adds the jobs that were found to the active list, whatever the order of the
// children (B3).
func (p *Planner) addFound() {
	if len(p.found) == 0 {
		return
	}
	sortReferences(p.found)
	status := &p.plan.basis.Status
	status.Active = append(slices.Clip(status.Active), p.found...)
	p.plan.basis.Found += len(p.found)
	p.found = p.found[:0]
}

// sortReferences puts the runs of a CronJob into their order: their names differ in
// length where their numbers do.
func sortReferences(refs []Reference) {
	slices.SortFunc(refs, func(a, b Reference) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
}

// isUnrecordedRun reports whether a child has the name of a run that is later
// than the last one recorded.
func (p *Planner) isUnrecordedRun(c *Child) bool {
	if !c.ScheduledTime.After(p.cj.Status.LastScheduleTime) || p.isBackfilled(c) || p.snap.Options.Quirks.Has(cronjobquirk.BlindCreate) {
		return false
	}
	p.name = appendName(p.name[:0], p.cj.Name, c.ScheduledTime)
	return c.Name == string(p.name)
}

// countUnrecorded counts the active jobs that are not recorded, or whose trigger or
// backfill is not settled. A run must not replace these: their deletion and a crash
// before the status write would leave no trace of them, and they could start again (CI1).
func (p *Planner) countUnrecorded() int {
	active := p.plan.basis.Status.Active
	found := len(active) - p.kept
	for _, ref := range active[:p.kept] {
		if p.isAwaited(ref.Name, p.runOf(ref)) && !p.isSpared(ref) {
			found++
		}
	}
	return found
}
