package cronjob

import (
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// startDue starts the due run, or handles its obstacle. Argument m is the memory of this round.
func startDue(s *Snapshot, c *census, t *timing, o obstacle, m *memory) moves {
	switch o.standing {
	case isFree:
		return create(s, c, t)
	case isStarted, isFound, isTaken:
		return passOn(s, c, t, o)
	case isStale:
		return c.waitForSnapshot(t.due, "")
	case isForbidden:
		held := sayForbidden(c.kind)
		held.add(hold(s, t, o))
		return held
	case isSkipped:
		given := sayForbidden(c.kind)
		given.since = t.latest // so that the run does not start late
		return given
	case isHalted:
		held := waitsFor(Wait{Reason: cronjobreason.WaitFailures, Run: t.due, Jobs: o.jobs})
		held.add(waitForDeadline(s, t))
		return held
	case isFull:
		return hold(s, t, o)
	case isUnsettled:
		held := waitsFor(Wait{
			Reason: cronjobreason.WaitRecord,
			Run:    t.due,
			Jobs:   o.jobs,
			Until:  c.untilAccounted(s.Now),
		})
		held.Unfinished = true
		return held
	case isReplacing:
		return waitUntilGone(s, c, t, o, m)
	}
	return moves{}
}

// create creates the due run's job. Before that, it deletes the jobs that the run replaces.
func create(s *Snapshot, c *census, t *timing) moves {
	reason := cronjobreason.CreateLatest
	switch {
	case t.overdue <= 1:
		reason = cronjobreason.CreateDue
	case s.Options.CatchUp == CatchUpAll:
		reason = cronjobreason.CreateOldest
	}

	started := moves{remove: replaceActive(c, s.CronJob.Spec.ConcurrencyPolicy)}
	started.start(creationOf(s, c.names.of(t.due).String(), t.due, reason), dependsOnActive(s))
	started.Unfinished = reason == cronjobreason.CreateOldest
	return started
}

// passOn handles a due run that has started already, or cannot start. With CatchUpAll another round
// follows immediately for the next overdue run, which would otherwise wait until the schedule's
// next run (CL4).
func passOn(s *Snapshot, c *census, t *timing, o obstacle) moves {
	passed := noteOneName(s, c, t)
	all := s.Options.CatchUp == CatchUpAll

	switch {
	case o.standing == isTaken:
		name := c.names.of(t.due).String()
		passed.waits = []Wait{{Reason: cronjobreason.WaitNameTaken, Run: t.due, Name: name}}
		passed.events = appendTaken(passed.events, s.Options.Quirks, c.kind, name)
		if all {
			passed.since = t.due // otherwise later runs would never start
		}
	case o.standing == isFound, !s.Options.Quirks.Has(cronjobquirk.BlindCreate):
		// The run must be recorded even if its job is in the active list. lastScheduleTime may
		// still be earlier: the status was edited, or the job belongs to another run in the same
		// minute.
		passed.recorded = t.due
	}

	passed.Unfinished = all && t.overdue > 1
	return passed
}

// appendTaken appends the event about a job that cannot be created, because its name belongs to
// another owner. Kubernetes reports no such event (C14).
func appendTaken(events []job.Event, quirks cronjobquirk.Set, k Kind, name string) []job.Event {
	if !quirks.IsZero() {
		return events
	}
	return append(events, event(job.EventWarning, "NameTaken",
		"Cannot create "+k.String()+" "+name+": another owner has "+k.one()+" of that name"))
}

// sharing explains why runs share a name, for each form of names.
var sharing = [...]string{
	NameMinutes: "has several runs in one minute",
	NameSeconds: "has several runs in one second",
	NameCustom:  "has several runs of one name",
}

// noteOneName returns a note if the due run has the name of another run that has started.
func noteOneName(s *Snapshot, c *census, t *timing) moves {
	last := s.CronJob.Status.LastScheduleTime
	switch {
	case last.IsZero(), !t.due.After(last), !c.names.isSameRun(t.due, last):
		return moves{}
	}
	return notes("cronJob.spec.schedule", s.CronJob.Spec.Schedule,
		sharing[s.Options.Naming.Form]+"; they share the name "+c.names.of(t.due).String()+", and one of them starts")
}

// hold returns the waits of a run that is held back by active jobs.
func hold(s *Snapshot, t *timing, o obstacle) moves {
	held := waitsFor(Wait{Reason: cronjobreason.WaitActive, Run: t.due, Jobs: o.jobs})
	held.Blocked = true
	held.add(waitForDeadline(s, t))
	return held
}

// waitForDeadline returns a wait for the deadline of a run that is held back. Without a deadline
// there is nothing to wait for.
func waitForDeadline(s *Snapshot, t *timing) moves {
	if !t.bounded || s.Options.Quirks.Has(cronjobquirk.SilentMiss) {
		return moves{}
	}
	return waitsFor(Wait{Reason: cronjobreason.WaitStartDeadline, Run: t.due, Until: t.due.Add(t.deadline)})
}
