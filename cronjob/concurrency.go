package cronjob

import (
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
)

// obstacle is what keeps the run that is due from starting.
type obstacle uint8

const (
	noObstacle obstacle = iota
	// isStarted: the active list names its job (C10). isFound: its job is a child that
	// recoverStarts did not know, since it lacks the annotation (C14). isTaken: another
	// owner's job has its name (C14).
	isStarted
	isFound
	isTaken
	// isStale: the snapshot is older than the controller's own writes (CI15).
	isStale
	// isHeld: Forbid, and a job is active (C11). isFull: Options.MaxActive.
	isHeld
	isFull
	// isUnrecorded: jobs to replace are to be recorded first (CI1). isReplacing: they are
	// to be gone first (Options.ReplaceWhenGone).
	isUnrecorded
	isReplacing
)

// startDue starts the run that is due, unless something keeps it from starting.
func (p *Planner) startDue() {
	if p.due.IsZero() {
		return
	}
	p.name = appendName(p.name[:0], p.cj.Name, p.due)
	place := -1
	if !p.snap.Options.Quirks.Has(cronjobquirk.BlindCreate) {
		place = childByName(p.snap.Children, string(p.name))
	}
	o, jobs := p.obstacle(place)
	switch o {
	case noObstacle:
		p.start()
	case isStarted, isFound, isTaken:
		p.passOn(o, place)
	case isStale:
		p.held = true
		p.waitForSnapshot(p.due, "")
	case isHeld:
		p.forbid(jobs)
	case isFull:
		p.hold(jobs)
	case isUnrecorded:
		p.plan.basis.Unfinished = true
		p.wait(Wait{Reason: WaitRecord, Run: p.due, Jobs: jobs})
	case isReplacing:
		p.replaceFirst()
		p.hold(jobs)
		p.plan.basis.Stale = p.plan.basis.Stale || len(p.plan.basis.Memory.Replaced) > 0
	}
}

// obstacle finds what keeps the run that is due from starting, and the number of jobs
// that it waits for; place is that of the child with its name, or -1.
func (p *Planner) obstacle(place int) (obstacle, int) {
	active, limit := p.plan.basis.Status.Active, p.snap.Options.MaxActive
	policy := p.cj.Spec.ConcurrencyPolicy
	switch {
	case namesJob(active, p.name):
		return isStarted, 0
	case place >= 0 && p.snap.Children[place].Owner != Owned:
		return isTaken, 0
	case place >= 0:
		return isFound, 0
	case p.behind && (policy == Forbid || policy == Replace || limit > 0):
		return isStale, 0
	case policy == Forbid && len(active) > 0:
		return isHeld, len(active)
	case policy == Replace:
		return p.replaceObstacle()
	case isAtLimit(limit, len(active)):
		return isFull, len(active)
	}
	return noObstacle, 0
}

// replaceObstacle is obstacle for Replace. Jobs that the run replaces do not count
// against the limit; those that it spares do.
func (p *Planner) replaceObstacle() (obstacle, int) {
	if n := p.countUnrecorded(); n > 0 {
		return isUnrecorded, n
	}
	if n := p.countLeft(); n > 0 {
		return isReplacing, n
	}
	if n := p.countSpared(); isAtLimit(p.snap.Options.MaxActive, n) {
		return isFull, n
	}
	return noObstacle, 0
}

// isAtLimit applies Options.MaxActive.
func isAtLimit(limit int32, active int) bool { return limit > 0 && active >= int(limit) }

// namesJob reports whether the active list names the job of a run.
func namesJob(active []Reference, name []byte) bool {
	for i := range active {
		if active[i].Name == string(name) {
			return true
		}
	}
	return false
}

// start creates the job of the run that is due, after it has deleted what it replaces.
func (p *Planner) start() {
	p.replaceActive()
	reason := CreateDue
	switch {
	case p.overdue > 1 && p.snap.Options.CatchUp == CatchUpAll:
		reason = CreateOldest
		p.plan.basis.Unfinished = true
	case p.overdue > 1:
		reason = CreateLatest
	}
	if policy := p.cj.Spec.ConcurrencyPolicy; policy == Forbid || policy == Replace || p.snap.Options.MaxActive > 0 {
		p.needsList(string(p.name))
	}
	p.plan.Create = append(p.plan.Create, p.creation(string(p.name), p.due, reason))
	p.resumeAfterStart()
}

// passOn records a run that needs no start, or cannot start. The next of several runs
// that are made up gets its turn at once: nothing else would ask for it before the
// schedule does (CL4).
func (p *Planner) passOn(o obstacle, place int) {
	status := &p.plan.basis.Status
	switch {
	case o == isTaken:
		p.wait(Wait{Reason: WaitNameTaken, Run: p.due, Name: string(p.name)})
		if p.snap.Options.CatchUp == CatchUpAll {
			p.plan.basis.Memory.Since = p.due // or the later runs would never get their turn
		}
	case o == isFound:
		status.LastScheduleTime = p.due
		if !p.snap.Children[place].isFinished() {
			p.takeIn(place)
			p.addFound()
		}
	case !p.snap.Options.Quirks.Has(cronjobquirk.BlindCreate):
		// Only a status that was edited, or a second run within one minute, lacks the
		// time of a run that the active list names.
		status.LastScheduleTime = p.due
	}
	if p.overdue > 1 && p.snap.Options.CatchUp == CatchUpAll {
		p.plan.basis.Unfinished = true
	}
}

// forbid holds the run back, or gives it up (C11). A run that is held back is not
// recorded as started: it can start later, while it is the latest that is due. None is
// given up before it is known that the active jobs are there.
func (p *Planner) forbid(active int) {
	p.event(job.Normal, "JobAlreadyActive",
		"Not starting job because prior execution is running and concurrency policy is Forbid")
	if p.snap.Options.SkipHeld && len(p.plan.Verify) == 0 {
		p.plan.basis.Memory.Since = p.latest // the memory keeps it from starting late
		return
	}
	p.hold(active)
}

// hold explains that the run waits for active jobs.
func (p *Planner) hold(active int) {
	p.plan.basis.Blocked, p.held = true, true
	p.wait(Wait{Reason: WaitActive, Run: p.due, Jobs: active})
	if d, ok := p.deadline(); ok && !p.snap.Options.Quirks.Has(cronjobquirk.SilentMiss) {
		p.wait(Wait{Reason: WaitStartDeadline, Run: p.due, Until: p.due.Add(d)})
	}
}
