package cronjob

import (
	"strings"
	"time"
)

// setAside moves the time after which runs count past those that came due while
// the CronJob was suspended, or that its schedule did not have then. It needs the
// memory to see such a change: after a restart the change goes unnoticed. Runs that
// came due after the change count, if CronJob.SpecChanged tells its time.
func (p *Planner) setAside() {
	o, spec, m := &p.snap.Options, &p.cj.Spec, &p.plan.basis.Memory
	since := changedAt(p.cj.SpecChanged, m.Since, p.snap.Now)
	if o.SkipOnResume {
		suspended := p.cj.isSuspended()
		switch {
		case suspended:
			m.Since = p.snap.Now
		case m.Suspended:
			m.Since = since
		}
		m.Suspended = suspended
	}
	if o.SkipOnEdit {
		text, zone := p.scheduleText(), orEmpty(spec.TimeZone)
		if m.Schedule != "" && (m.Schedule != text || m.TimeZone != zone) {
			m.Since = since
		}
		m.Schedule, m.TimeZone = text, zone
	}
}

// changedAt is up to when a change of the spec sets runs aside: the time of the change,
// but not before what was set aside already, and now if the time is not known.
func changedAt(changed, since, now time.Time) time.Time {
	switch {
	case changed.IsZero(), changed.After(now):
		return now
	case since.After(changed):
		return since
	}
	return changed
}

// scheduleText is the schedule of the spec, with those that [Compile] was given beside it.
func (p *Planner) scheduleText() string {
	text := p.cj.Spec.Schedule
	if whole := p.snap.Schedule.Schedule.String(); strings.HasPrefix(whole, text) {
		return whole
	}
	return text
}
