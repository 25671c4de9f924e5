package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

// missedSpan is a span (after, until] with at least one run, all of which were due and
// will not start any more.
type missedSpan struct{ after, until, latest time.Time }

// findMissed finds the runs before the run that is due, or, if the deadlines of all have
// passed, all of them.
func findMissed(s schedule.Schedule, t *timing) (span missedSpan, ok bool) {
	if t.quiet {
		return missedSpan{}, false
	}
	span = missedSpan{after: t.base, until: t.due.Add(-1)}
	if t.due.IsZero() {
		span.until = t.earliest
	}
	if !span.after.Before(span.until) {
		return missedSpan{}, false
	}
	span.latest, ok = s.Latest(span.after, span.until)
	return span, ok
}

// reportMissed counts the missed runs. If no run starts in their place, it reports them
// as an event, once a run (C9).
func reportMissed(plan *Plan, s *Snapshot, t *timing) {
	sch, m := s.Schedule.Schedule, &plan.basis.Memory
	span, ok := findMissed(sch, t)
	if !ok {
		return
	}
	plan.Missed = Missed{
		Count:   sch.Count(span.after, span.until),
		Runs:    latestRuns(plan.Missed.Runs, sch, span),
		TooLate: t.due.IsZero(),
	}
	if span.latest.After(m.Counted) {
		plan.basis.Missed = sch.Count(later(span.after, m.Counted), span.until)
		m.Counted = span.latest
	}
	// The reference cannot report this: it never looks further back than the deadline.
	if plan.Missed.TooLate && !s.Options.Quirks.Has(cronjobquirk.SilentMiss) && span.latest.After(m.Reported) {
		m.Reported = span.latest
		plan.event(job.EventWarning, "MissSchedule", "Missed scheduled time to start a job: "+span.latest.UTC().Format(time.RFC1123Z))
	}
}

// latestRuns appends the latest missed runs, newest first.
func latestRuns(runs []time.Time, s schedule.Schedule, span missedSpan) []time.Time {
	for run := span.latest; run.After(span.after) && len(runs) < maxMissedRuns; run = s.Prev(run) {
		runs = append(runs, run)
	}
	return runs
}
