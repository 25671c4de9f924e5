package cronjob

import (
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/value"
)

// skipped is the reason why runs are set aside, and whether the schedule was edited, which is known
// only with SkipOnEdit or CatchUpAll.
type skipped struct {
	why    cronjobreason.Unstarted
	edited bool
}

// setAside applies Options.SkipOnResume and SkipOnEdit. Only runs later than m.Since can start. So
// setAside moves m.Since past the runs that were due while the CronJob was suspended or before its
// schedule was edited. If CronJob.SpecChanged is set, m.Since moves only up to the time of the
// change.
//
// Both changes are found by comparison with the memory, so after a restart they go unnoticed.
func setAside(m *memory, s *Snapshot) skipped {
	o, cronJob := &s.Options, &s.CronJob
	skip := skipped{why: cronjobreason.UnstartedSuspended}
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

	if o.SkipOnEdit || o.CatchUp == CatchUpAll {
		text, zone := scheduleText(s), value.Of(cronJob.Spec.TimeZone)
		isFirst := m.Schedule == "" // there is no earlier round to compare with
		skip.edited = !isFirst && (m.Schedule != text || m.TimeZone != zone)
		if skip.edited && o.SkipOnEdit {
			m.Since, skip.why = since, cronjobreason.UnstartedEdited
		}
		m.Schedule, m.TimeZone = text, zone
	}
	return skip
}

// changedAt returns the time up to which a change of the spec sets runs aside. It is the time of
// the change or argument since, whichever is later. If the time of the change is unknown or in the
// future, it is argument now.
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
