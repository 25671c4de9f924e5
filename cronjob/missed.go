package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
)

// reportMissed counts the runs that were due and will not start: those before the
// run that is due, and all of them if their deadlines have passed. The latter are
// reported as an event, once a run (C9).
func (p *Planner) reportMissed() {
	s := p.snap.Schedule.Schedule
	until := p.due.Add(-1)
	if p.due.IsZero() {
		until = p.earliest
	}
	if p.quiet || !p.base.Before(until) {
		return
	}
	latest, ok := s.Latest(p.base, until)
	if !ok {
		return
	}
	missed := &p.plan.Missed
	missed.Count = s.Count(p.base, until)
	missed.TooLate = p.due.IsZero()
	p.countMissed(latest, until)
	for run := latest; run.After(p.base) && len(missed.Runs) < MaxMissedRuns; run = s.Prev(run) {
		missed.Runs = append(missed.Runs, run)
	}
	if missed.TooLate {
		p.reportTooLate(latest)
	}
}

// countMissed counts those of the missed runs that no earlier round has counted.
func (p *Planner) countMissed(latest, until time.Time) {
	memory := &p.plan.basis.Memory
	if !latest.After(memory.Counted) {
		return
	}
	after := p.base
	if memory.Counted.After(after) {
		after = memory.Counted
	}
	p.plan.basis.Missed = p.snap.Schedule.Schedule.Count(after, until)
	memory.Counted = latest
}

// reportTooLate makes the event of a run whose deadline has passed. The reference
// cannot: it never looks further back than the deadline.
func (p *Planner) reportTooLate(run time.Time) {
	memory := &p.plan.basis.Memory
	if p.snap.Options.Quirks.Has(cronjobquirk.SilentMiss) || !run.After(memory.Reported) {
		return
	}
	memory.Reported = run
	p.event(job.Warning, "MissSchedule", "Missed scheduled time to start a job: "+run.UTC().Format(time.RFC1123Z))
}
