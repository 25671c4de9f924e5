package cronjob

import (
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/value"
)

// setAside moves the time after which runs count, and returns why. Runs
// that came due while the CronJob was suspended, or before its schedule had them, then lie before
// it. Only the memory shows such a change: after a restart it goes unnoticed. Runs that came due
// after the change still count if CronJob.SpecChanged says when it was.
func setAside(m *memory, s *Snapshot) cronjobreason.Unstarted {
	o, cronJob := &s.Options, &s.CronJob
	since, why := changedAt(cronJob.SpecChanged, m.Since, s.Now), cronjobreason.UnstartedSuspended

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
		text, zone := scheduleText(s), value.Of(cronJob.Spec.TimeZone)
		switch {
		case m.Schedule == "": // nothing is known of an earlier round
		case m.Schedule != text, m.TimeZone != zone:
			m.Since, why = since, cronjobreason.UnstartedEdited
		}
		m.Schedule, m.TimeZone = text, zone
	}

	return why
}

// changedAt returns the time up to which a change of the spec sets runs aside: the time of
// the change, or now if that is not known, but never a time before since.
func changedAt(changed, since, now time.Time) time.Time {
	if changed.IsZero() || changed.After(now) {
		return now
	}
	return later(changed, since)
}

// scheduleText returns the schedule of the spec, together with the other schedules that
// [Compile] was given.
func scheduleText(s *Snapshot) string {
	text := s.CronJob.Spec.Schedule
	if whole := s.Schedule.Schedule.String(); strings.HasPrefix(whole, text) {
		return whole
	}
	return text
}
