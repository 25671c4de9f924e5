package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
)

// estimated is what the reference makes of a span.
type estimated struct {
	// latest is the run it takes for the latest; zero is none.
	latest time.Time
	// missed is how many runs it believes to have been missed.
	missed int64
	// invalid is true where it gives the schedule up.
	invalid bool
}

// noGap is what the reference says of a schedule whose first two runs it cannot tell
// apart, since there are none.
const noGap = "time difference between two schedules is less than 1 second"

// estimateDue is findDue with cronjobquirk.Estimate.
//
// Quirk: the reference takes the gap between the first two runs for that between
// all, jumps by it to just before now, and looks from there. For a schedule with
// uneven gaps it can land behind the latest run, and then nothing starts
// (CJ1-CJ3).
func (p *Planner) estimateDue() {
	s, now := p.snap.Schedule.Schedule, p.snap.Now
	found := p.estimate(p.earliest)
	if found.invalid {
		p.event(job.Warning, "InvalidSchedule", "invalid schedule: "+p.cj.Spec.Schedule+" : "+noGap)
		return // and it never looks again
	}
	p.due, p.latest = found.latest, found.latest
	p.overdue = int(min(found.missed, tooMany+1))
	p.warnOfMany(p.overdue)
	p.next = s.Next(p.resumeFrom(now))
}

// resumeAfterStart is where the reference looks for the next run once it has started
// the one that is due: from that run, for whatever its first look has made of the
// deadline, which is not about the next run.
func (p *Planner) resumeAfterStart() {
	if p.snap.Options.Quirks.Has(cronjobquirk.Estimate) {
		p.base = p.due
		p.next = p.snap.Schedule.Schedule.Next(p.resumeFrom(p.snap.Now))
	}
}

// resumeFrom is the time from which the reference looks for the next run. Its own
// latest run matters for "@every", which counts from there.
func (p *Planner) resumeFrom(now time.Time) time.Time {
	whole := p.estimate(p.base)
	switch {
	case whole.invalid:
		return now
	case !whole.latest.IsZero():
		return whole.latest
	case whole.missed == 0:
		return p.base
	}
	return now
}

// estimate looks for the latest run in (after, now] as the reference does.
func (p *Planner) estimate(after time.Time) estimated {
	s, now := p.snap.Schedule.Schedule, p.snap.Now
	first := s.Next(after)
	second := s.Next(first)
	switch {
	case first.IsZero():
		return estimated{invalid: true}
	case now.Before(first):
		return estimated{}
	case now.Before(second):
		return estimated{latest: first}
	}
	gap := second.Sub(first).Round(time.Second)
	if second.IsZero() || gap < time.Second {
		return estimated{invalid: true}
	}
	gaps := int64(now.Sub(first).Truncate(time.Second) / gap)
	return estimated{
		latest: p.lastByStep(first.Add(time.Duration(gaps-1) * gap)),
		missed: gaps + 1,
	}
}

// maxSteps bounds the walk of lastByStep; behind it, the exact answer stands in.
const maxSteps = 1000

// lastByStep walks from run to run up to now.
func (p *Planner) lastByStep(from time.Time) (last time.Time) {
	s, now := p.snap.Schedule.Schedule, p.snap.Now
	run := s.Next(from)
	for range maxSteps {
		if run.IsZero() || run.After(now) {
			return last
		}
		last, run = run, s.Next(run)
	}
	last, _ = s.Latest(from, now)
	return last
}
