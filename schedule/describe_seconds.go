package schedule

import (
	"fmt"
	"math/bits"
)

// secondsText describes a pattern with seconds.
func (t *timetable) secondsText() string {
	if never := t.neverText(); never != "" {
		return never
	}
	seconds, even := progressionOf(uint64(t.seconds))
	hours, evenHours := progressionOf(uint64(t.hours))
	rhythm, allMinutes := even && seconds.fillsHour(), t.minutes == 1<<60-1
	evenly := allMinutes && rhythm

	switch {
	case t.perDay*t.seconds.perMinute() <= 6:
		return t.onDays("at " + t.secondTimes())
	case evenly && hours.n == 24:
		return t.onDays("every " + period(int64(seconds.step)))
	case evenly && evenHours && hours.step <= 1:
		return t.onDays(fmt.Sprintf("every %s from %s:00 to %s:%02d", period(int64(seconds.step)),
			clock(hours.first, 0), clock(hours.last, 59), seconds.last))
	case rhythm:
		return fmt.Sprintf("every %s within the minute, %s", period(int64(seconds.step)), t.text())
	case allMinutes && hours.n == 24:
		return t.onDays(t.secondNumbers() + " every minute")
	}
	return t.secondNumbers() + " the minute, " + t.text()
}

// secondNumbers describes the seconds of a minute; "every minute" or "the minute" follows.
func (t *timetable) secondNumbers() string {
	seconds, even := progressionOf(uint64(t.seconds))
	switch {
	case even && seconds.step > 1 && seconds.n > 4:
		return fmt.Sprintf("at every %s second from %d to %d of", ordinal(seconds.step), seconds.first, seconds.last)
	case t.seconds == 1<<1:
		return "at 1 second past"
	}
	return "at " + numbers(uint64(t.seconds)) + " seconds past"
}

// secondTimes lists the times of a day.
func (t *timetable) secondTimes() string {
	var times []string
	for h := t.hours; h != 0; h &= h - 1 {
		for m := t.minutes; m != 0; m &= m - 1 {
			for s := t.seconds; s != 0; s &= s - 1 {
				minute := clock(bits.TrailingZeros32(h), bits.TrailingZeros64(m))
				times = append(times, fmt.Sprintf("%s:%02d", minute, s.first()))
			}
		}
	}
	return enumerate(times)
}
