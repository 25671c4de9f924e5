package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
)

// startDue starts the run that is due, or does what its obstacle asks for.
func startDue(plan *Plan, s *Snapshot, c *census, t *timing, o obstacle) {
	switch o.standing {
	case notDue:
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
	noteOneMinute(plan, s, t.due)
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

// noteOneMinute says that a run does not start since another of its minute has started.
func noteOneMinute(plan *Plan, s *Snapshot, run time.Time) {
	last := s.CronJob.Status.LastScheduleTime
	if !last.IsZero() && run.After(last) && runMinute(run) == runMinute(last) {
		plan.note("cronJob.spec.schedule", s.CronJob.Spec.Schedule,
			"has several runs in one minute; they share the name "+JobName(s.CronJob.Name, run)+", and one of them starts")
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
