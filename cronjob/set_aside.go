package cronjob

import (
	"strings"
	"time"
)

// setAside moves the time after which runs count past those that came due while
// the CronJob was suspended, or that its schedule did not have then. It needs the
// memory to see such a change: after a restart the change goes unnoticed. Runs that
// came due after the change count, if CronJob.SpecChanged tells its time.
func setAside(m *memory, s *Snapshot) {
	o, cronJob := &s.Options, &s.CronJob
	since := changedAt(cronJob.SpecChanged, m.Since, s.Now)
	if o.SkipOnResume {
		suspended := cronJob.isSuspended()
		switch {
		case suspended:
			m.Since = s.Now
		case m.Suspended:
			m.Since = since
		}
		m.Suspended = suspended
	}
	if o.SkipOnEdit {
		text, zone := scheduleText(s), orEmpty(cronJob.Spec.TimeZone)
		if m.Schedule != "" && (m.Schedule != text || m.TimeZone != zone) {
			m.Since = since
		}
		m.Schedule, m.TimeZone = text, zone
	}
}

// changedAt returns the time up to which a change of the spec sets runs aside: that of
// the change, but not before what was set aside already, and now if it is not known.
func changedAt(changed, since, now time.Time) time.Time {
	if changed.IsZero() || changed.After(now) {
		return now
	}
	return later(changed, since)
}

// scheduleText returns the schedule of the spec, with those that [Compile] was given
// beside it.
func scheduleText(s *Snapshot) string {
	text := s.CronJob.Spec.Schedule
	if whole := s.Schedule.Schedule.String(); strings.HasPrefix(whole, text) {
		return whole
	}
	return text
}
