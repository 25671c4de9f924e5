package cronjob

import (
	"math"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
)

// findDue finds the run to start and the next one after it (C7). Both are exact,
// and their cost does not grow with the time missed (B1).
func (p *Planner) findDue() {
	p.base = p.startsFrom()
	p.earliest = p.base
	if limit, ok := p.startLimit(); ok && limit.After(p.base) {
		p.earliest = limit
	}
	if p.snap.Options.Quirks.Has(cronjobquirk.Estimate) {
		p.estimateDue()
		return
	}
	s, now := p.snap.Schedule.Schedule, p.snap.Now
	p.next = s.Next(p.base)
	if p.quiet = p.next.IsZero() || p.startOf(p.next).After(now); p.quiet {
		return // the way of nearly all rounds
	}
	until := p.reach()
	p.pickDue(until)
	p.next = s.Next(until)
	p.warnOfMany(p.overdue)
}

// startsFrom is the time after which runs count, apart from deadlines: the last
// one recorded, or else the creation. The memory knows better than a snapshot that
// is older than the last status write, and knows what was set aside.
func (p *Planner) startsFrom() time.Time {
	base, m := p.cj.CreationTimestamp, &p.plan.basis.Memory
	if last := p.plan.basis.Status.LastScheduleTime; !last.IsZero() {
		base = last
	}
	if m.Recorded.After(base) {
		base = m.Recorded
	}
	if m.Since.After(base) {
		base = m.Since
	}
	return base
}

// startLimit is the time at or before which runs are too late to start (C7, CI7).
func (p *Planner) startLimit() (time.Time, bool) {
	d, ok := p.deadline()
	if ok && d == 0 {
		p.note("cronJob.spec.startingDeadlineSeconds", "0", "no run is ever in time")
	}
	return p.snap.Now.Add(-d), ok
}

// deadline is how late a run may start. One longer than a time.Duration reaches,
// 292 years, bounds nothing.
func (p *Planner) deadline() (time.Duration, bool) {
	d, ok := p.snap.Options.catchUpWindow()
	if seconds := p.cj.Spec.StartingDeadlineSeconds; seconds != nil && *seconds <= int64(math.MaxInt64/time.Second) {
		if own := time.Duration(*seconds) * time.Second; !ok || own < d {
			d, ok = own, true
		}
	}
	if jitter := p.snap.Options.Jitter; ok && d > math.MaxInt64-jitter {
		return 0, false
	}
	return d + p.snap.Options.Jitter, ok
}

// tooMany is how many missed runs are worth a warning (C8).
const tooMany = 100

func (p *Planner) warnOfMany(missed int) {
	if missed > tooMany && !p.due.IsZero() {
		p.event(job.Warning, "TooManyMissedTimes",
			"too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew")
	}
}
