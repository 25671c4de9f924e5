package schedule

import (
	"math"
	"math/bits"
)

// This file adds seconds to a pattern, which knows whole minutes only. Each matching minute has
// one run for each second of the set.

// seconds is the set of matching seconds as bits 0-59. The value 0 means second 0 only, as in a
// schedule without a field of seconds: then the pattern of minutes is used without this set.
type seconds uint64

const onlySecondZero = 1

func (s seconds) first() civil { return civil(bits.TrailingZeros64(uint64(s))) }
func (s seconds) last() civil  { return civil(bits.Len64(uint64(s)) - 1) }

// perMinute returns the number of runs in a matching minute.
func (s seconds) perMinute() int64 { return int64(bits.OnesCount64(uint64(s))) }

// next returns the first run after an instant, for a schedule that matches every minute.
func (s seconds) next(unix int64) int64 {
	c := civilAt(unix+1, 0) // not negative: unsigned division is faster
	second := uint64(c) % 60
	if later := s >> second; later != 0 {
		return unix + 1 + int64(later.first())
	}
	return unix + 1 + int64(60-second) + int64(s.first())
}

// evenSince returns the instant since which the zone does not matter, because all minutes match and
// all offsets are whole minutes. Then Next does not look for transitions.
func (t *timetable) evenSince() int64 {
	if !t.eachMinute || t.gapEnd || t.repeated != repeatedBoth {
		return math.MaxInt64
	}
	return t.zone.wholeMinutesSince()
}

// addSeconds sets the seconds of a compiled pattern. If the set is empty, no minute has a run.
func (t *timetable) addSeconds(set uint64) {
	switch set {
	case onlySecondZero:
		return
	case 0:
		t.minutes = 0
		t.compile()
		return
	}

	t.seconds = seconds(set)
	t.eachMinute = t.hourly && t.minutes == 1<<60-1
	t.daily = false
}

// from returns the first matching time at or after c. The timetable must match something.
func (t *timetable) from(c civil) civil {
	if t.seconds == 0 {
		return t.pattern.from(c)
	}

	minute := uint64(c) / 60
	if later := t.seconds >> (uint64(c) - minute*60); later != 0 && t.hasMinute(minute) {
		return c + later.first()
	}

	next := civil(minute+1) * 60
	if !t.eachMinute {
		next = t.pattern.from(next)
	}
	return next + t.seconds.first()
}

// upTo returns the last matching time at or before c, or 0 when there is none since
// March of the year 0.
func (t *timetable) upTo(c civil) civil {
	if t.seconds == 0 {
		return t.pattern.upTo(c)
	}

	minute := uint64(c) / 60
	if earlier := t.seconds << (63 - uint64(c)%60); earlier != 0 && t.hasMinute(minute) {
		return c - civil(bits.LeadingZeros64(uint64(earlier)))
	}

	last := t.pattern.upTo(civil(minute)*60 - 60)
	if last == 0 {
		return 0
	}
	return last + t.seconds.last()
}

// before counts the matching times that are earlier than c, from a time before the year 1.
func (t *timetable) before(c civil) int64 {
	if t.seconds == 0 {
		return t.pattern.before(c)
	}

	minute := uint64(c) / 60
	n := t.pattern.before(civil(minute)*60) * t.seconds.perMinute()
	if t.hasMinute(minute) {
		n += int64(bits.OnesCount64(uint64(t.seconds & (1<<(uint64(c)%60) - 1))))
	}
	return n
}

// between counts the matching times in [from, to), where from <= to.
func (t *timetable) between(from, to civil) int64 { return t.before(to) - t.before(from) }

// matches reports whether exactly c is a matching time.
func (t *timetable) matches(c civil) bool { return t.from(c) == c }

// hasMinute reports whether a minute matches the pattern, which is not combined. Minutes are
// counted from the origin of civil.
func (t *timetable) hasMinute(minute uint64) bool {
	if t.eachMinute {
		return true
	}

	hour := minute / 60
	if t.minutes>>(minute-hour*60)&1 == 0 || t.hours>>(hour%24)&1 == 0 {
		return false
	}

	day := int64(hour / 24)
	return t.dayFrom(day) == day
}
