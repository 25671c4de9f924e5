package schedule

import (
	"math/bits"
	"slices"
)

// combined is a set of wall-clock times: the times of several patterns, without the times of
// others. The times of a day depend only on the kind of the year and on the number of the day in
// it, so a table with an entry for each of these serves all years. The cost of a lookup or a count
// does not depend on the number of patterns. Immutable.
type combined struct {
	also, except []pattern // combined with the main pattern, whose field combined points here

	times []dayTimes             // the distinct sets of times in a day; the first is empty
	on    [yearKinds][367]uint16 // by day of the year from 1 on: an index into times
	days  [yearKinds]dayBits     // the days with any times

	before   [yearKinds][367]uint32 // times in the year before a day
	perYear  [yearKinds]uint32
	perCycle int64 // in 400 years
}

// dayBits holds the days 1-366 of a year as bits.
type dayBits [6]uint64

// equal reports whether the combined patterns are the same, in the same order.
func (c *combined) equal(other *combined) bool {
	if c == nil || other == nil {
		return c == other
	}
	return slices.Equal(c.also, other.also) && slices.Equal(c.except, other.except)
}

// yearsBefore counts the times of the first n years of a cycle.
func (c *combined) yearsBefore(n int) int64 {
	sum := int64(0)
	for k, years := range calendar.before[n] {
		sum += int64(years) * int64(c.perYear[k])
	}
	return sum
}

// place returns the year of a day, the kind of that year, and the number of the day in it from 1
// on.
func place(day int64) (year, kind, inYear int) {
	year, month, dom := dateOf(day)
	kind = kindOf(year)
	return year, kind, int(calendar.month[kind][month].offset) + dom
}

// from implements pattern.from.
func (c *combined) from(t civil) civil {
	minute := (int64(t) + 59) / 60
	day, rest := minute/minutesPerDay, int(minute%minutesPerDay)
	year, kind, inYear := place(day)

	if m, ok := c.times[c.on[kind][inYear]].from(rest); ok {
		return civil((day*minutesPerDay + int64(m)) * 60)
	}

	for {
		if found := c.days[kind].from(inYear + 1); found > 0 {
			m, _ := c.times[c.on[kind][found]].from(0)
			return civil(((newYear(year)+int64(found)-1)*minutesPerDay + int64(m)) * 60)
		}
		year, inYear = year+1, 0
		kind = kindOf(year)
	}
}

// upTo implements pattern.upTo.
func (c *combined) upTo(t civil) civil {
	minute := int64(t) / 60
	day, rest := minute/minutesPerDay, int(minute%minutesPerDay)
	year, kind, inYear := place(day)

	if m, ok := c.times[c.on[kind][inYear]].upTo(rest); ok {
		return civil((day*minutesPerDay + int64(m)) * 60)
	}

	for year >= 0 { // clocks west of UTC still show the year 0 when the year 1 begins
		if found := c.days[kind].upTo(inYear - 1); found > 0 {
			m, _ := c.times[c.on[kind][found]].upTo(minutesPerDay - 1)
			return civil(((newYear(year)+int64(found)-1)*minutesPerDay + int64(m)) * 60)
		}
		year, inYear = year-1, 367
		kind = kindOf(year)
	}
	return 0
}

// rank implements pattern.before.
func (c *combined) rank(t civil) int64 {
	minute := (int64(t) + 59) / 60
	day, rest := minute/minutesPerDay, int(minute%minutesPerDay)
	year, kind, inYear := place(day)
	return int64(year/400)*c.perCycle + c.yearsBefore(year%400) +
		int64(c.before[kind][inYear]) + c.times[c.on[kind][inYear]].before(rest)
}

// from returns the first day at or after a day of the year, or 0.
func (d *dayBits) from(day int) int {
	for word := day / 64; word < len(d); word++ {
		if left := d[word] >> (day % 64); left != 0 {
			return day + bits.TrailingZeros64(left)
		}
		day = (word + 1) * 64
	}
	return 0
}

// upTo returns the last day at or before a day of the year, or 0.
func (d *dayBits) upTo(day int) int {
	for word := day / 64; word >= 0; word-- {
		if left := d[word] << (63 - day%64); left != 0 {
			return day - bits.LeadingZeros64(left)
		}
		day = word*64 - 1
	}
	return 0
}
