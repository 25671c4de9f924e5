package schedule

import "math/bits"

// pattern holds the five fields of a schedule as sets, with counts that are computed in advance.
// Its times are on the wall clock; it has no zone. Immutable.
type pattern struct {
	minutes uint64 // bit 0-59
	hours   uint32 // bit 0-23
	months  uint32 // bit 1-12, January to December
	doms    uint32 // bit 1-31
	dows    uint32 // bit 0-6
	// anyDom and anyDow are true if the field was written with a star. By S2 that differs from
	// listing all its values.
	anyDom, anyDow bool
	// special holds the days of WithSpecialDays, such as L, in the fields for days.
	special specialDays

	// days holds the matching days of a month, by its number of days less 28 and by the weekday of
	// its first day. The months field is not applied.
	days [4][7]uint32

	// weekly is true if only the weekday decides, as for most schedules. Then week holds the
	// matching weekdays of two weeks in a row.
	weekly bool
	week   uint16

	// monthsFromMarch holds the months as bits 3-14, March to February.
	monthsFromMarch uint32

	// daily is true if each day matches, and hourly if each hour of each day does. daily is false
	// for a combined schedule and for one with seconds.
	daily, hourly bool

	// twoDays holds the matching hours of two days in a row.
	twoDays uint64

	firstMinute, firstTime civil // the first time of a matching hour, and of a matching day

	perHour, perDay int64
	yearDays        [yearKinds]uint16     // matching days in a year
	monthDaysBefore [yearKinds][13]uint16 // matching days in a year before a month
	cycleDays       int64                 // matching days in 400 years

	// combined, if not nil, is used instead of the fields above, which then describe only the main
	// schedule.
	combined *combined
}

// compile sets the derived fields.
func (p *pattern) compile() {
	for first := range p.days[3] {
		days := p.daysOfMonth(first, 31)
		for length := range p.days {
			if p.special.any() {
				days = p.daysOfMonth(first, 28+length)
			}
			p.days[length][first] = days & (1<<(29+length) - 1)
		}
	}

	p.perHour = int64(bits.OnesCount64(p.minutes))
	p.perDay = p.perHour * int64(bits.OnesCount32(p.hours))

	for k := range p.yearDays {
		n := uint16(0)
		for m := 1; m <= 12; m++ {
			p.monthDaysBefore[k][m] = n
			n += uint16(bits.OnesCount32(p.matching(k, m)))
		}
		p.yearDays[k] = n
	}

	p.cycleDays = p.yearsBefore(400)

	// The rest is for speed: common patterns need only a shift.
	p.weekly = p.months == allMonths && p.anyDom && !p.special.any()
	p.week = uint16(p.dows | p.dows<<7)
	p.monthsFromMarch = (p.months | p.months<<12) & (allMonths << 2)
	p.daily = p.weekly && p.dows == allDows
	p.hourly = p.daily && p.hours == 1<<24-1
	p.twoDays = uint64(p.hours) | uint64(p.hours)<<24
	p.firstMinute = civil(60 * bits.TrailingZeros64(p.minutes))
	p.firstTime = civil(3600*bits.TrailingZeros32(p.hours)) + p.firstMinute
}

// equal compares the sets by value.
func (p *pattern) equal(other *pattern) bool {
	a, b := *p, *other
	a.combined, b.combined = nil, nil
	return a == b && p.combined.equal(other.combined)
}

// daysOfMonth applies S2. A starred field holds every value, so with one star only the other field
// decides, and with two all days match.
func (p *pattern) daysOfMonth(firstWeekday, length int) uint32 {
	byDate, byWeekday := p.special.daysOfMonth(firstWeekday, length)
	for d := 1; d <= length; d++ {
		byDate |= p.doms & (1 << d)
		if p.dows>>((firstWeekday+d-1)%7)&1 == 1 {
			byWeekday |= 1 << d
		}
	}

	if p.anyDom || p.anyDow {
		return byDate & byWeekday
	}
	return byDate | byWeekday
}

// never reports whether no minute of any year matches (S3). Kinds of years repeat every 400 years,
// so it is enough that no day of a cycle matches.
func (p *pattern) never() bool {
	if p.combined != nil {
		return p.combined.perCycle == 0
	}
	return p.perDay == 0 || p.cycleDays == 0
}

// hasTimes reports whether a kind of year has a matching time; the pattern must
// match something in some year.
func (p *pattern) hasTimes(kind int) bool {
	if p.combined != nil {
		return p.combined.perYear[kind] > 0
	}
	return p.yearDays[kind] > 0
}

// matching returns the matching days of a month as bits 1-31.
func (p *pattern) matching(kind, month int) uint32 {
	if p.months>>month&1 == 0 {
		return 0
	}
	shape := &calendar.month[kind][month]
	return p.days[shape.length][shape.weekday]
}

// from returns the first matching time at or after c. The pattern must match
// something.
func (p *pattern) from(c civil) civil {
	if p.combined != nil {
		return p.combined.from(c)
	}

	day := int64((uint64(c) + 59) / secondsPerDay)
	match := p.dayFrom(day)
	if match == day {
		if c = p.timeFrom(c); c < civil((day+1)*secondsPerDay) {
			return c
		}
		match = p.dayFrom(day + 1)
	}
	return civil(match*secondsPerDay) + p.firstTime
}

// timeFrom returns the first time at or after c whose hour and minute match, on any day. Its
// numbers are unsigned, since those are divided faster. The compiler inlines timeFrom into Next.
func (p *pattern) timeFrom(c civil) civil {
	minute := (uint64(c) + 59) / 60
	hour := minute / 60

	hours, later := p.twoDays, p.minutes>>(minute%60)
	if !p.hourly {
		hours >>= hour % 24
	}

	if later != 0 && hours&1 == 1 {
		return civil((minute + uint64(bits.TrailingZeros64(later))) * 60)
	}
	return civil((hour+1+uint64(bits.TrailingZeros64(hours>>1)))*3600) + p.firstMinute
}

// upTo returns the last matching time at or before c, or 0 when there is none
// since March of the year 0.
func (p *pattern) upTo(c civil) civil {
	if p.combined != nil {
		return p.combined.upTo(c)
	}

	minute := int64(c) / 60
	day, rest := minute/minutesPerDay, int(minute%minutesPerDay)

	match := p.dayUpTo(day)
	if match == day {
		hour, m := rest/60, rest%60
		if p.hours>>hour&1 == 1 {
			if earlier := p.minutes << (63 - m); earlier != 0 {
				return civil((minute - int64(bits.LeadingZeros64(earlier))) * 60)
			}
		}
		if earlier := p.hours & (1<<hour - 1); earlier != 0 {
			return p.time(day, bits.Len32(earlier)-1, bits.Len64(p.minutes)-1)
		}
		match = p.dayUpTo(day - 1)
	}

	if match <= 0 {
		return 0
	}
	return p.time(match, bits.Len32(p.hours)-1, bits.Len64(p.minutes)-1)
}

// time returns a wall-clock time of a day.
func (p *pattern) time(day int64, hour, minute int) civil {
	return civil(day*secondsPerDay + int64(hour*60+minute)*60)
}

// dayFrom returns the first matching day at or after day.
func (p *pattern) dayFrom(day int64) int64 {
	if p.weekly {
		return day + int64(bits.TrailingZeros16(p.week>>weekdayOf(day)))
	}
	if p.special.any() {
		return p.searchFrom(day)
	}
	return p.dateFrom(day)
}

// dateFrom implements dayFrom for a pattern that is not weekly and has no special days. It tries
// two months: the month of the day, and the next month that matches. In both it tries only days up
// to the 28th, which every month has. If none of them matches, it calls searchFrom.
func (p *pattern) dateFrom(day int64) int64 {
	year, rest := yearOf(day)
	month, dom := monthOf(rest)

	if p.monthsFromMarch>>month&1 == 1 {
		if later := p.days[3][weekdayOf(day-int64(dom))] >> (dom + 1); later != 0 {
			if days := bits.TrailingZeros32(later); dom+days < 28 {
				return day + int64(days)
			}
			return p.searchFrom(day)
		}
	}

	begins, left := day-int64(rest), p.monthsFromMarch&^(1<<(month+1)-1)
	if left == 0 {
		begins, left = newYear(int(year)+2)-daysToJanuary, p.monthsFromMarch
	}
	begins += monthBegins(bits.TrailingZeros32(left))
	if dom := bits.TrailingZeros32(p.days[3][weekdayOf(begins)]); dom <= 28 {
		return begins + int64(dom) - 1
	}
	return p.searchFrom(day)
}

// searchFrom is like dateFrom, but searches month by month, and finds special days as well. The
// search ends, because each kind of year comes again within 40 years.
func (p *pattern) searchFrom(day int64) int64 {
	year, month, dom := dateOf(day)
	kind := kindOf(year)
	if later := p.matching(kind, month) >> dom; later != 0 {
		return day + int64(bits.TrailingZeros32(later))
	}

	for {
		left := p.months >> (month + 1)
		if left == 0 {
			year, month = year+1, 0
			kind = kindOf(year)
			left = p.months >> 1
		}
		month += 1 + bits.TrailingZeros32(left)
		if days := p.matching(kind, month); days != 0 {
			return newYear(year) + int64(calendar.month[kind][month].offset) +
				int64(bits.TrailingZeros32(days)) - 1
		}
	}
}

// dayUpTo returns the last matching day at or before day, or 0 or less when there is
// none since March of the year 0. Clocks west of UTC still show that year when the year 1
// begins.
func (p *pattern) dayUpTo(day int64) int64 {
	if p.weekly {
		return day - int64(bits.LeadingZeros16(p.week<<(8-weekdayOf(day))))
	}

	year, month, dom := dateOf(day)
	kind := kindOf(year)
	if earlier := p.matching(kind, month) << (31 - dom); earlier != 0 {
		return day - int64(bits.LeadingZeros32(earlier))
	}

	for {
		left := p.months & (1<<month - 1)
		if left == 0 {
			if year--; year < 0 {
				return 0
			}
			kind = kindOf(year)
			left = p.months
		}
		month = bits.Len32(left) - 1
		if days := p.matching(kind, month); days != 0 {
			return newYear(year) + int64(calendar.month[kind][month].offset) +
				int64(bits.Len32(days)) - 2
		}
	}
}

// yearsBefore counts the matching days of the first n years of a cycle.
func (p *pattern) yearsBefore(n int) int64 {
	var days uint32
	for k, years := range calendar.before[n] {
		days += uint32(years) * uint32(p.yearDays[k])
	}
	return int64(days)
}
