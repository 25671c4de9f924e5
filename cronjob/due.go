package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

// timing holds the runs of the schedule that are due, and the next one (C7).
type timing struct {
	window
	// Runs up to base do not count. Runs up to earliest cannot start: it is base, or later because of
	// the deadline.
	base, earliest time.Time
	// pick is the run to start, chosen from those in (earliest, now].
	pick
	// next is the first run that is not due yet. Zero means that there is none.
	next time.Time
	// quiet is true if no run after base is due.
	quiet bool
	// invalid is true if Kubernetes refuses the schedule (estimateDue).
	invalid bool
}

// pick is the choice among the due runs.
type pick struct {
	// due is the run to start, and latest the latest run that is due. Zero means none.
	due, latest time.Time
	// overdue is the number of runs from which due was chosen. With CatchUpAll it is at most the
	// limit of CatchUpAll.
	overdue int
}

// findDue finds the run to start and the next one after it (C7). Both are exact,
// and their cost does not grow with the time missed (B1).
func findDue(s *Snapshot, base time.Time, w window) timing {
	sch, t := s.Schedule.Schedule, timing{window: w, base: base, earliest: w.closed(base, s.Now)}
	if s.Options.Quirks.Has(cronjobquirk.Estimate) {
		return estimateDue(t, sch, s.Now)
	}

	t.next = sch.Next(base)
	if t.quiet = t.next.IsZero() || w.startOf(t.next).After(s.Now); t.quiet {
		return t // the common case
	}

	until := w.reach(base, s.Now)
	t.pick = pickDue(sch, t.earliest, until, &s.Options)
	t.next = sch.Next(until)
	return t
}

// missed returns the runs after t.base that were due and will not start any more: those before the
// due run or, if no run is due, those past the deadline.
func missed(s schedule.Schedule, t *timing, b *buffers) Missed {
	after, until := t.base, t.due.Add(-1)
	if t.due.IsZero() {
		until = t.earliest
	}
	if t.quiet || !after.Before(until) {
		return Missed{}
	}
	latest, ok := s.Latest(after, until)
	if !ok {
		return Missed{}
	}

	b.runs = b.runs[:0]
	for run := latest; run.After(after) && len(b.runs) < maxMissedRuns; run = s.Prev(run) {
		b.runs = append(b.runs, run)
	}
	return Missed{Count: s.Count(after, until), Runs: b.runs, TooLate: t.due.IsZero()}
}

// startsFrom returns the time after which runs count, apart from deadlines: the last run that is
// known to have started, or else the CronJob's creation. The memory can make this time later: it
// holds status writes that the snapshot does not show yet, and runs that were set aside.
func startsFrom(s *Snapshot, lastRun time.Time, m *memory) time.Time {
	base := s.CronJob.CreationTimestamp
	if !lastRun.IsZero() {
		base = lastRun
	}
	return later(later(base, m.Recorded), m.Since)
}

// tooMany is the largest number of missed runs without a warning (C8).
const tooMany = 100

// warnings notes a deadline of zero, and warns about an invalid schedule and about too many missed
// runs, the latest of which still starts (C8).
func warnings(s *Snapshot, t *timing) (out moves) {
	if t.bounded && t.deadline == 0 {
		out = notes("cronJob.spec.startingDeadlineSeconds", "0", "no run is ever in time")
	}

	switch {
	case t.invalid:
		out.add(says(job.EventWarning, "InvalidSchedule",
			"invalid schedule: "+s.CronJob.Spec.Schedule+" : "+noGap))
	case t.overdue > tooMany && !t.due.IsZero():
		out.add(says(job.EventWarning, "TooManyMissedTimes",
			"too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"))
	}
	return out
}
