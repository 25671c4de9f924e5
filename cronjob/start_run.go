package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// startDue starts the run that is due, or does what its obstacle asks for. The memory is the
// one of this round.
func startDue(s *Snapshot, c *census, t *timing, o obstacle, m *memory) moves {
	switch o.standing {
	case isFree:
		return create(s, c, t)
	case isStarted, isFound, isTaken:
		return passOn(s, c, t, o)
	case isStale:
		return waitForSnapshot(s.Now, m.Behind, t.due, "")
	case isForbidden:
		return sayForbidden(c.kind).and(hold(s, t, o))
	case isSkipped:
		given := sayForbidden(c.kind)
		given.since = t.latest // so that the run does not start late
		return given
	case isHalted:
		return waitsFor(Wait{Reason: cronjobreason.WaitFailures, Run: t.due, Jobs: o.jobs}).and(waitForDeadline(s, t))
	case isFull:
		return hold(s, t, o)
	case isUnsettled:
		held := waitsFor(Wait{
			Reason: cronjobreason.WaitRecord,
			Run:    t.due,
			Jobs:   o.jobs,
			Until:  c.untilAccounted(s.Now),
		})
		held.unfinished = true
		return held
	case isReplacing:
		return waitUntilGone(s, c, t, o, m)
	}
	return moves{}
}

// create creates the job of the run that is due, after the deletion of those that it replaces.
func create(s *Snapshot, c *census, t *timing) moves {
	reason := cronjobreason.CreateLatest
	switch {
	case t.overdue <= 1:
		reason = cronjobreason.CreateDue
	case s.Options.CatchUp == CatchUpAll:
		reason = cronjobreason.CreateOldest
	}

	return moves{
		remove:     replaceActive(c, s.CronJob.Spec.ConcurrencyPolicy),
		create:     []Creation{creationOf(s, c.names.of(t.due).String(), t.due, reason)},
		unfinished: reason == cronjobreason.CreateOldest,
	}
}

// passOn records a run that needs no start, or cannot start. If several runs are made
// up, the next one gets its turn immediately: nothing else would ask for it before the
// schedule does (CL4).
func passOn(s *Snapshot, c *census, t *timing, o obstacle) moves {
	passed := noteOneName(s, c, t)
	all := s.Options.CatchUp == CatchUpAll

	switch {
	case o.standing == isTaken:
		name := c.names.of(t.due).String()
		passed.waits = []Wait{{Reason: cronjobreason.WaitNameTaken, Run: t.due, Name: name}}
		passed.events = appendTaken(passed.events, s.Options.Quirks, c.kind, name)
		if all {
			passed.since = t.due // or the later runs would never get their turn
		}
	case o.standing == isFound, !s.Options.Quirks.Has(cronjobquirk.BlindCreate):
		// Only a status that was edited, or a second run within one minute, lacks the
		// time of a run that the active list names.
		passed.recorded = t.due
	}

	passed.unfinished = all && t.overdue > 1
	return passed
}

// appendTaken appends the event about a job that cannot be created, since its name belongs to another owner.
// The reference has none (C14).
func appendTaken(events []job.Event, quirks cronjobquirk.Set, k Kind, name string) []job.Event {
	if !quirks.IsZero() {
		return events
	}
	child := k.String()
	return append(events, event(job.EventWarning, "NameTaken",
		"Cannot create "+child+" "+name+": another owner has a "+child+" of that name"))
}

// sharing is how runs come to share a name, by its form.
var sharing = [...]string{
	NameMinutes: "has several runs in one minute",
	NameSeconds: "has several runs in one second",
	NameCustom:  "has several runs of one name",
}

// noteOneName says that a run does not start since another of its name has started.
func noteOneName(s *Snapshot, c *census, t *timing) moves {
	last := s.CronJob.Status.LastScheduleTime
	switch {
	case last.IsZero(), !t.due.After(last), !c.names.isSameRun(t.due, last):
		return moves{}
	}
	return notes("cronJob.spec.schedule", s.CronJob.Spec.Schedule,
		sharing[s.Options.Naming.Form]+"; they share the name "+c.names.of(t.due).String()+", and one of them starts")
}

// hold explains that the run waits for active jobs.
func hold(s *Snapshot, t *timing, o obstacle) moves {
	held := waitsFor(Wait{Reason: cronjobreason.WaitActive, Run: t.due, Jobs: o.jobs})
	held.blocked = true
	return held.and(waitForDeadline(s, t))
}

// waitForDeadline waits until the run that is held back is given up, if it ever is.
func waitForDeadline(s *Snapshot, t *timing) moves {
	if !t.bounded || s.Options.Quirks.Has(cronjobquirk.SilentMiss) {
		return moves{}
	}
	return waitsFor(Wait{Reason: cronjobreason.WaitStartDeadline, Run: t.due, Until: t.due.Add(t.deadline)})
}

// nextRun returns the first run that is not due. The reference looks again once it has started the
// run that is due.
func nextRun(s *Snapshot, t *timing, o obstacle) time.Time {
	if o.standing == isFree && s.Options.Quirks.Has(cronjobquirk.Estimate) {
		return estimateNext(s.Schedule.Schedule, t.due, s.Now)
	}
	return t.next
}

// reserved returns the first run that the schedule is going to start by itself. Zero
// means none. The run that is due no longer counts once it is recorded or set aside, up to the time
// last; the runs after it do, if all are made up.
func reserved(s *Snapshot, t *timing, last time.Time) time.Time {
	switch {
	case t.due.After(last):
		return t.due
	case s.Options.CatchUp == CatchUpAll && t.latest.After(last):
		return s.Schedule.Schedule.Next(last)
	}
	return t.next
}
