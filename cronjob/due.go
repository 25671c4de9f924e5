package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
)

// timing says which runs of the schedule are due (C7).
type timing struct {
	// base is the time after which runs count; earliest is the same, raised by the
	// deadline.
	base, earliest time.Time
	// pick is the run to start, chosen from those in (earliest, now].
	pick
	// next is the first run that is not due. Zero means that there is none.
	next time.Time
	// quiet is true when no run came due since base.
	quiet bool
	// invalid is true when the reference gives the schedule up (estimateDue).
	invalid bool
}

// findDue finds the run to start and the next one after it (C7). Both are exact,
// and their cost does not grow with the time missed (B1).
func findDue(s *Snapshot, base time.Time) timing {
	sch, t := s.Schedule.Schedule, timing{base: base, earliest: base}
	if d, ok := startingDeadline(&s.CronJob.Spec, &s.Options); ok {
		t.earliest = later(base, s.Now.Add(-d))
	}
	if s.Options.Quirks.Has(cronjobquirk.Estimate) {
		return estimateDue(t, sch, s.Now)
	}
	delay := jitterOf(s)
	t.next = sch.Next(base)
	if t.quiet = t.next.IsZero() || delay.startOf(t.next).After(s.Now); t.quiet {
		return t // the common case
	}
	until := delay.reach(base, s.Now)
	t.pick = pickDue(sch, t.earliest, until, &s.Options)
	t.next = sch.Next(until)
	return t
}

// startsFrom returns the time after which runs count, apart from deadlines: the last
// one recorded, or else the creation. The memory knows of status writes that the
// snapshot does not show yet, and of runs that were set aside.
func startsFrom(s *Snapshot, b *basis) time.Time {
	base := s.CronJob.CreationTimestamp
	if last := b.Status.LastScheduleTime; !last.IsZero() {
		base = last
	}
	return later(later(base, b.Memory.Recorded), b.Memory.Since)
}

// tooMany is the number of missed runs above which a warning is due (C8).
const tooMany = 100

// reportDue reports what is odd about the schedule and its deadline.
func reportDue(plan *Plan, s *Snapshot, t *timing) {
	if d, ok := startingDeadline(&s.CronJob.Spec, &s.Options); ok && d == 0 {
		plan.note("cronJob.spec.startingDeadlineSeconds", "0", "no run is ever in time")
	}
	switch {
	case t.invalid:
		plan.event(job.EventWarning, "InvalidSchedule", "invalid schedule: "+s.CronJob.Spec.Schedule+" : "+noGap)
	case t.overdue > tooMany && !t.due.IsZero():
		plan.event(job.EventWarning, "TooManyMissedTimes",
			"too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew")
	}
}
