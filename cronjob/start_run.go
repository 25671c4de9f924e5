package cronjob

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
)

// standing is what becomes of the run that is due.
type standing uint8

const (
	// notDue: no run is due.
	notDue standing = iota
	// isFree: the run starts.
	isFree
	// isStarted: the active list names its job (C10).
	isStarted
	// isFound: its job is a child that recoverStarts did not know, since it lacks the
	// annotation (C14).
	isFound
	// isTaken: another owner's job has its name (C14).
	isTaken
	// isStale: the snapshot is older than the controller's own writes (CI15).
	isStale
	// isForbidden: Forbid, and a job is active (C11).
	isForbidden
	// isSkipped: the same with Options.SkipHeld, which gives the run up.
	isSkipped
	// isFull: Options.MaxActive jobs are active.
	isFull
	// isUnsettled: jobs to replace are to be recorded first (CI1).
	isUnsettled
	// isReplacing: they are to be gone first (Options.ReplaceWhenGone).
	isReplacing
)

// obstacle is what keeps the run that is due from starting, if anything does.
type obstacle struct {
	standing
	// jobs is the number of jobs that the run waits for.
	jobs int
	// place is that of the child that has the run's name.
	place int
}

// holds reports whether the run waits for something and can still start later.
func (o obstacle) holds() bool {
	return o.standing == isStale || o.standing == isForbidden || o.standing == isFull || o.standing == isReplacing
}

// findObstacle finds what keeps the run that is due from starting.
func findObstacle(s *Snapshot, c *census, t *timing) obstacle {
	if t.due.IsZero() {
		return obstacle{standing: notDue}
	}
	name := nameOfRun(c.cronJob, t.due)
	place := -1
	if !s.Options.Quirks.Has(cronjobquirk.BlindCreate) {
		place = slices.IndexFunc(c.children, func(child Child) bool { return name.is(child.Name) })
	}
	policy := s.CronJob.Spec.ConcurrencyPolicy
	switch {
	case c.isNamedActive(name):
		return obstacle{standing: isStarted}
	case place >= 0 && c.children[place].Owner != Owned:
		return obstacle{standing: isTaken}
	case place >= 0:
		return obstacle{standing: isFound, place: place}
	case c.behind && dependsOnActive(s):
		return obstacle{standing: isStale}
	case policy == Forbid:
		return forbids(c, &s.Options)
	case policy == Replace:
		return replaces(c, &s.Options)
	}
	return fills(s.Options.MaxActive, len(c.active))
}

// dependsOnActive reports whether the active jobs decide about a run of the schedule.
func dependsOnActive(s *Snapshot) bool {
	policy := s.CronJob.Spec.ConcurrencyPolicy
	return policy == Forbid || policy == Replace || s.Options.MaxActive > 0
}

// startDue starts the run that is due, or does what its obstacle asks for.
func startDue(plan *Plan, s *Snapshot, c *census, t *timing, o obstacle) {
	switch o.standing {
	case isFree:
		replaceActive(plan, s, c)
		create(plan, s, t)
	case isStarted, isFound, isTaken:
		passOn(plan, s, c, t, o)
	case isStale:
		waitForSnapshot(plan, t.due, "")
	case isForbidden:
		sayForbidden(plan)
		hold(plan, s, t, o)
	case isSkipped:
		sayForbidden(plan)
		plan.basis.Memory.Since = t.latest // so that the run does not start late
	case isFull:
		hold(plan, s, t, o)
	case isUnsettled:
		plan.basis.Unfinished = true
		plan.wait(Wait{Reason: WaitRecord, Run: t.due, Jobs: o.jobs})
	case isReplacing:
		replaceFirst(plan, c)
		hold(plan, s, t, o)
		plan.basis.Stale = plan.basis.Stale || len(plan.basis.Memory.Replaced) > 0
	}
}

// create creates the job of the run that is due.
func create(plan *Plan, s *Snapshot, t *timing) {
	reason := CreateDue
	switch {
	case t.overdue > 1 && s.Options.CatchUp == CatchUpAll:
		reason = CreateOldest
		plan.basis.Unfinished = true
	case t.overdue > 1:
		reason = CreateLatest
	}
	plan.Create = append(plan.Create, creation(s, JobName(s.CronJob.Name, t.due), t.due, reason))
	if s.Options.Quirks.Has(cronjobquirk.Estimate) {
		t.next = estimateNext(s.Schedule.Schedule, t.due, s.Now)
	}
}

// passOn records a run that needs no start, or cannot start. If several runs are made
// up, the next one gets its turn at once: nothing else would ask for it before the
// schedule does (CL4).
func passOn(plan *Plan, s *Snapshot, c *census, t *timing, o obstacle) {
	status := &plan.basis.Status
	switch {
	case o.standing == isTaken:
		plan.wait(Wait{Reason: WaitNameTaken, Run: t.due, Name: JobName(s.CronJob.Name, t.due)})
		if s.Options.CatchUp == CatchUpAll {
			plan.basis.Memory.Since = t.due // or the later runs would never get their turn
		}
	case o.standing == isFound:
		status.LastScheduleTime = t.due
		if !c.children[o.place].isFinished() {
			c.takeIn(o.place)
			c.addFound(plan)
		}
	case !s.Options.Quirks.Has(cronjobquirk.BlindCreate):
		// Only a status that was edited, or a second run within one minute, lacks the
		// time of a run that the active list names.
		status.LastScheduleTime = t.due
	}
	if t.overdue > 1 && s.Options.CatchUp == CatchUpAll {
		plan.basis.Unfinished = true
	}
}

// hold explains that the run waits for active jobs.
func hold(plan *Plan, s *Snapshot, t *timing, o obstacle) {
	plan.basis.Blocked = true
	plan.wait(Wait{Reason: WaitActive, Run: t.due, Jobs: o.jobs})
	if d, ok := startingDeadline(&s.CronJob.Spec, &s.Options); ok && !s.Options.Quirks.Has(cronjobquirk.SilentMiss) {
		plan.wait(Wait{Reason: WaitStartDeadline, Run: t.due, Until: t.due.Add(d)})
	}
}

// reserved returns the first run that the schedule is going to start by itself. Zero
// means none. The run that is due no longer counts once it is recorded or given up.
func reserved(t *timing, b *basis) time.Time {
	if t.due.After(b.Status.LastScheduleTime) && t.due.After(b.Memory.Since) {
		return t.due
	}
	return t.next
}
