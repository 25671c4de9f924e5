package schedule

import "time"

// Next returns the first run later than t, in the schedule's zone, or the zero Time if there is
// none before the end of the year 9999.
func (s Schedule) Next(t time.Time) time.Time {
	p := s.plan
	if p == nil || p.special {
		return p.specialNext(t)
	}

	run, ok := int64(0), true
	switch unix := min(max(t.Unix(), p.after), p.until); {
	case p.every.seconds > 0:
		run, ok = p.every.next(unix)
	case unix >= p.evenSince:
		run = p.table.seconds.next(unix)
	default:
		run, ok = p.table.next(unix)
	}

	if !ok || run > p.until {
		return time.Time{}
	}
	return time.Unix(run, 0).In(p.zone.location)
}

// specialNext implements Next for schedules that never run, follow robfig/cron or have a single
// run.
func (p *plan) specialNext(t time.Time) time.Time {
	if p == nil || t.Unix() >= p.until {
		return time.Time{}
	}
	if p.reference == nil {
		return p.exactNext(t.Unix())
	}

	run := p.referenceNext(t)
	singleLeft := !p.never && p.hasSingleIn(max(t.Unix(), p.after), p.until)
	if singleLeft && (run.IsZero() || p.single < run.Unix()) {
		return p.instant(p.single, true)
	}
	return run
}

// horizon covers the five calendar years that robfig/cron searches.
const horizon = 6 * 366 * secondsPerDay

// referenceNext implements Next as Kubernetes does, but it always ends. The search of robfig/cron
// never ends if it meets a date that the zone skips, and only the search itself could show whether
// it meets one. So if the zone skips a date within the horizon, Next gives the exact answer.
//
// Quirk: impossible dates (S3) can have runs. Around a month that begins without a midnight
// robfig/cron does not notice that the month has changed, so it can find 31 March for 31 February.
func (p *plan) referenceNext(t time.Time) time.Time {
	interval := p.every.seconds > 0
	if !interval && p.table.perDay == 0 {
		return time.Time{} // robfig/cron would try each minute of five years
	}

	unix := max(t.Unix(), p.after)
	for _, lost := range p.zone.lost {
		if !interval && unix < lost && lost < unix+horizon {
			return p.exactNext(unix)
		}
	}

	// The parsed schedule has no zone of its own, so it uses its argument's zone.
	run, ok := p.reference.next(time.Unix(unix, 0).In(p.zone.location))
	if !ok {
		return p.exactNext(unix)
	}
	if run.IsZero() || run.Unix() > p.until {
		return time.Time{}
	}
	return run
}

func (p *plan) exactNext(unix int64) time.Time {
	if p.never {
		return time.Time{}
	}
	return p.instant(p.next(unix))
}

// next returns the first run later than an instant, within the bounds.
func (p *plan) next(unix int64) (run int64, ok bool) {
	unix = min(max(unix, p.after), p.until)
	if p.every.seconds > 0 {
		run, ok = p.every.next(unix)
	} else {
		run, ok = p.table.next(unix)
	}
	if p.hasSingleIn(unix, p.until) && (!ok || p.single < run) {
		run, ok = p.single, true
	}

	return run, ok && run <= p.until
}

func (p *plan) instant(unix int64, ok bool) time.Time {
	if !ok {
		return time.Time{}
	}
	return time.Unix(unix, 0).In(p.zone.location)
}
