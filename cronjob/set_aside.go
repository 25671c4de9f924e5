package cronjob

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
		zone := orEmpty(spec.TimeZone)
		if m.Schedule != "" && (m.Schedule != spec.Schedule || m.TimeZone != zone) {
			m.Since = p.snap.Now
		}
		m.Schedule, m.TimeZone = spec.Schedule, zone
	}
}
