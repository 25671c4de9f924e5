package cronjob

import (
	"slices"

	"github.com/batchplan/batchplan/job"
)

// startDue starts the run that is due, unless its job exists already or the
// concurrency policy holds it back.
func (p *Planner) startDue() {
	if p.due.IsZero() {
		return
	}
	p.name = appendName(p.name[:0], p.cj.Name, p.due)
	switch {
	case p.isActiveByName(), p.isChildByName():
		p.passOn()
	case p.isHeld(), p.isFull(), p.isRecording(), p.isReplacing():
	default:
		p.replaceActive()
		reason := CreateDue
		switch {
		case p.overdue > 1 && p.snap.Options.CatchUp == CatchUpAll:
			reason = CreateOldest
			p.plan.Basis.Unfinished = true
		case p.overdue > 1:
			reason = CreateLatest
		}
		p.plan.Create = append(p.plan.Create, p.creation(string(p.name), p.due, reason))
	}
}

// passOn goes on to the next of several runs that are made up, when the oldest has its
// job, or another's job has its name: the round moves past it, and nothing else
// would ask for the next one before the schedule does (CL4).
func (p *Planner) passOn() {
	if p.overdue > 1 && p.snap.Options.CatchUp == CatchUpAll {
		p.plan.Basis.Unfinished = true
	}
}

// isActiveByName reports whether the active list names the job of the run: then
// it was started (C10). Only a status that was edited, or a second run within one
// minute, lacks the time of such a run.
func (p *Planner) isActiveByName() bool {
	status := &p.plan.Basis.Status
	for i := range status.Active {
		if status.Active[i].Name == string(p.name) {
			if !p.snap.Options.Slips.has(SlipBlindCreate) {
				status.LastScheduleTime = p.due
			}
			return true
		}
	}
	return false
}

// isChildByName looks for the job of the run among the children. One of ours that
// recoverStarts did not know, since it lacks the annotation, is recorded (C14).
// One of somebody else's is the end of this run.
func (p *Planner) isChildByName() bool {
	if p.snap.Options.Slips.has(SlipBlindCreate) {
		return false
	}
	place := slices.IndexFunc(p.snap.Children, func(c Child) bool { return c.Name == string(p.name) })
	if place < 0 {
		return false
	}
	c := &p.snap.Children[place]
	if c.Owner != Owned {
		p.wait(Wait{Reason: WaitNameTaken, Run: p.due, Name: c.Name})
		if p.snap.Options.CatchUp == CatchUpAll {
			p.plan.Basis.Memory.Since = p.due // or the later runs would never get their turn
		}
		return true
	}
	status := &p.plan.Basis.Status
	status.LastScheduleTime = p.due
	if !c.isFinished() {
		p.takeIn(c)
	}
	return true
}

// isHeld applies Forbid (C11). The run is not recorded as started: it can start
// later, while it is the latest that is due.
func (p *Planner) isHeld() bool {
	active := len(p.plan.Basis.Status.Active)
	if p.cj.Spec.ConcurrencyPolicy != Forbid || active == 0 {
		return false
	}
	p.event(job.Normal, "JobAlreadyActive",
		"Not starting job because prior execution is running and concurrency policy is Forbid")
	if len(p.plan.Verify) > 0 || !p.isSkipped() {
		p.hold(active)
	}
	return true
}

// hold explains that the run waits for active jobs.
func (p *Planner) hold(active int) {
	p.plan.Basis.Blocked, p.held = true, true
	p.wait(Wait{Reason: WaitActive, Run: p.due, Jobs: active})
	if d, ok := p.deadline(); ok && !p.snap.Options.Slips.has(SlipSilentMiss) {
		p.wait(Wait{Reason: WaitStartDeadline, Run: p.due, Until: p.due.Add(d)})
	}
}

// replaceActive deletes what runs before the run starts (C12).
func (p *Planner) replaceActive() {
	if p.cj.Spec.ConcurrencyPolicy != Replace {
		return
	}
	for _, ref := range p.plan.Basis.Status.Active {
		if !p.isSpared(ref) {
			p.plan.Delete = append(p.plan.Delete, Deletion{Reference: ref, Reason: DeleteReplaced})
		}
	}
}
