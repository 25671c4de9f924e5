package schedule

import "math/bits"

// Runs are counted without visiting them. The rank of a time is the number of matching times before
// it. It is a sum over whole cycles, whole years by their kind, whole months and whole days, which
// are looked up in tables, and the rest of one day. The number of runs in a span is the difference
// of two ranks. To compute it takes the same few nanoseconds for a day as for a thousand years.

// before returns the number of matching times earlier than c, counted from a fixed time before the
// year 1.
func (p *pattern) before(c civil) int64 {
	if p.combined != nil {
		return p.combined.rank(c)
	}

	minute := (int64(c) + 59) / 60 // matching times are whole minutes
	day, rest := minute/minutesPerDay, uint(minute%minutesPerDay)
	if p.weekly {
		weeks, weekday := (day+3)/7, weekdayOf(day)
		n := weeks*int64(bits.OnesCount32(p.dows)) + int64(bits.OnesCount32(p.dows&(1<<weekday-1)))
		return p.beforeTime(n, p.dows>>weekday&1 == 1, rest)
	}

	year, month, dom := dateOf(day)
	kind := kindOf(year)
	days := p.matching(kind, month)

	n := int64(year/400)*p.cycleDays + p.yearsBefore(year%400) +
		int64(p.monthDaysBefore[kind][month]) +
		int64(bits.OnesCount32(days&(1<<dom-1)))
	return p.beforeTime(n, days>>dom&1 == 1, rest)
}

// beforeTime counts the times of n whole matching days, and those before a minute
// of the next day, if that day matches.
func (p *pattern) beforeTime(n int64, match bool, minute uint) int64 {
	n *= p.perDay
	if match {
		hour := minute / 60
		n += int64(bits.OnesCount32(p.hours&(1<<hour-1))) * p.perHour
		if p.hours>>hour&1 == 1 {
			n += int64(bits.OnesCount64(p.minutes & (1<<(minute%60) - 1)))
		}
	}
	return n
}
