package cronjob

import "strings"

// setAside moves the time after which runs count past those that came due while
// the CronJob was suspended, or that its schedule did not have then. It needs the
// memory to see such a change: after a restart the change goes unnoticed.
func (p *Planner) setAside() {
	o, spec, m := &p.snap.Options, &p.cj.Spec, &p.plan.Basis.Memory
	if o.SkipOnResume {
		suspended := p.cj.isSuspended()
		if suspended || m.Suspended {
			m.Since = p.snap.Now
		}
		m.Suspended = suspended
	}
	if o.SkipOnEdit {
		text, zone := p.scheduleText(), orEmpty(spec.TimeZone)
		if m.Schedule != "" && (m.Schedule != text || m.TimeZone != zone) {
			m.Since = p.snap.Now
		}
		m.Schedule, m.TimeZone = text, zone
	}
}

// scheduleText is the schedule of the spec, with those that [Compile] was given beside it.
func (p *Planner) scheduleText() string {
	text := p.cj.Spec.Schedule
	if whole := p.snap.Schedule.Schedule.String(); strings.HasPrefix(whole, text) {
		return whole
	}
	return text
}
