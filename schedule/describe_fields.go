package schedule

import (
	"fmt"
	"math/bits"
	"strings"
	"time"
)

// text describes a pattern without the patterns combined with it.
func (p *pattern) text() string {
	if never := p.neverText(); never != "" {
		return never
	}
	return p.onDays(p.timesText())
}

func (p *pattern) neverText() string {
	switch {
	case p.perDay == 0:
		return "never (no such time of day)"
	case p.cycleDays == 0:
		return "never (no such date)"
	}
	return ""
}

// onDays appends the description of the days to that of the times.
func (p *pattern) onDays(times string) string {
	days := p.daysText()
	hasRhythm := strings.HasSuffix(times, "every hour") || strings.HasSuffix(times, "every minute")
	if days == "" && strings.HasPrefix(times, "at ") && !hasRhythm {
		days = "every day"
	}

	return strings.TrimSpace(times + " " + days)
}

// period returns a number of seconds as text, in the largest unit that divides it.
func period(seconds int64) string {
	unit, n := "second", seconds
	switch {
	case seconds%3600 == 0:
		unit, n = "hour", seconds/3600
	case seconds%60 == 0:
		unit, n = "minute", seconds/60
	}
	if n == 1 {
		return unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}

// progression is a set of evenly spaced values. A single value has step 0.
type progression struct {
	first, last, step, n int
}

func progressionOf(set uint64) (progression, bool) {
	p := progression{first: bits.TrailingZeros64(set), last: bits.Len64(set) - 1, n: bits.OnesCount64(set)}
	if p.n < 2 {
		return p, p.n == 1
	}

	p.step = bits.TrailingZeros64(set&^(1<<p.first)) - p.first
	for v := p.first; v <= p.last; v += p.step {
		if set>>v&1 == 0 {
			return p, false
		}
	}
	return p, p.first+(p.n-1)*p.step == p.last
}

// fillsHour reports whether the minutes continue with the same step into the next hour, or seconds
// into the next minute.
func (p progression) fillsHour() bool { return p.first == 0 && p.n*p.step == 60 }

func clock(hour, minute int) string { return fmt.Sprintf("%02d:%02d", hour, minute) }

func (p *pattern) timesText() string {
	minutes, evenMinutes := progressionOf(p.minutes)
	hours, evenHours := progressionOf(uint64(p.hours))
	rhythm := evenMinutes && minutes.fillsHour()

	switch {
	case hours.n == 24:
		return p.everyHourText(minutes, rhythm)
	case rhythm && evenHours && hours.step <= 1:
		return fmt.Sprintf("every %s from %s to %s", period(int64(minutes.step)*60),
			clock(hours.first, 0), clock(hours.last, minutes.last))
	case minutes.n == 1 && evenHours && hours.n > 3:
		return fmt.Sprintf("every %s from %s to %s", period(int64(hours.step)*3600),
			clock(hours.first, minutes.first), clock(hours.last, minutes.first))
	case p.perDay <= 6:
		return "at " + p.clockTimes()
	case rhythm:
		return fmt.Sprintf("every %s of %s", period(int64(minutes.step)*60), p.hoursText())
	}
	return p.minutesText() + p.hoursText()
}

// hoursText describes the hours of a day when not all hours match.
func (p *pattern) hoursText() string {
	if hours, even := progressionOf(uint64(p.hours)); even && hours.step > 1 && hours.n > 4 {
		return fmt.Sprintf("every %s hour from %d to %d", ordinal(hours.step), hours.first, hours.last)
	}
	if p.hours&(p.hours-1) == 0 {
		return "the hour " + numbers(uint64(p.hours))
	}
	return "the hours " + numbers(uint64(p.hours))
}

// minutesText describes the minutes of an hour; the text of the hours follows it.
func (p *pattern) minutesText() string {
	minutes, even := progressionOf(p.minutes)
	switch {
	case even && minutes.step > 1 && minutes.n > 4:
		return fmt.Sprintf("at every %s minute from %d to %d of ", ordinal(minutes.step), minutes.first, minutes.last)
	case p.minutes == 1<<1:
		return "at 1 minute past "
	}
	return "at " + numbers(p.minutes) + " minutes past "
}

func (p *pattern) everyHourText(minutes progression, rhythm bool) string {
	switch {
	case rhythm:
		return "every " + period(int64(minutes.step)*60)
	case p.minutes == 1:
		return "every hour"
	}
	return p.minutesText() + "every hour"
}

func (p *pattern) clockTimes() string {
	var times []string
	for h := range 24 {
		for m := range 60 {
			if p.hours>>h&1 == 1 && p.minutes>>m&1 == 1 {
				times = append(times, clock(h, m))
			}
		}
	}
	return enumerate(times)
}

// daysText describes the days. It is empty if all days match. By S2, all days can match even if
// both fields are restricted.
func (p *pattern) daysText() string {
	dates, weekdays := p.doms == allDoms, p.dows == allDows
	if eachDay := dates || weekdays; eachDay && !p.anyDom && !p.anyDow {
		dates, weekdays = true, true
	}

	text := "" // an empty field adds no day
	if !dates {
		text = both(p.domText(), p.onSpecial(p.special.dates()))
	}
	if !weekdays {
		text = both(text, both(p.weekdaysText(), p.onSpecial(p.special.weekdays())))
	}
	if text == "" && p.months != allMonths {
		return "every day " + inMonths(p.months)
	}
	return text
}

// both joins two texts, of which one may be empty.
func both(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " and " + b
}

// onSpecial describes special days.
func (p *pattern) onSpecial(days []string) string {
	if len(days) == 0 {
		return ""
	}
	return "on " + enumerate(days) + p.ofMonths()
}

// ofMonths returns the months for the text about a date.
func (p *pattern) ofMonths() string {
	switch {
	case p.months == allMonths:
		return " of every month"
	case isSpan(p.months):
		return " of every month " + inMonths(p.months)
	}
	return " of " + monthNames(p.months)
}

func (p *pattern) domText() string {
	if p.doms == 0 {
		return ""
	}

	of := p.ofMonths()
	days, even := progressionOf(uint64(p.doms))
	switch {
	case even && days.n > 2 && days.step == 1:
		return "from the " + ordinal(days.first) + " to the " + ordinal(days.last) + of
	case even && days.n > 4:
		return fmt.Sprintf("on every %s day from the %s to the %s%s",
			ordinal(days.step), ordinal(days.first), ordinal(days.last), of)
	}
	return "on the " + enumerate(texts(uint64(p.doms), ordinal)) + of
}

func (p *pattern) weekdaysText() string {
	months := ""
	if p.months != allMonths {
		months = " " + inMonths(p.months)
	}

	plural := func(d int) string { return time.Weekday(d).String() + "s" }
	days, even := progressionOf(uint64(p.dows))
	switch {
	case p.dows == 0:
		return ""
	case p.dows == 0b0111110:
		return "on weekdays" + months
	case p.dows == 0b1000001:
		return "on weekends" + months
	case even && days.step == 1 && days.n > 2:
		return "on " + plural(days.first) + " to " + plural(days.last) + months
	}
	return "on " + enumerate(texts(uint64(p.dows), plural)) + months
}

// inMonths returns "in January and July" or "from June to August".
func inMonths(set uint32) string {
	if isSpan(set) {
		return "from " + monthNames(set)
	}
	return "in " + monthNames(set)
}

// isSpan reports whether monthNames gives a first and a last month.
func isSpan(set uint32) bool {
	months, even := progressionOf(uint64(set))
	return even && months.step == 1 && months.n > 2
}

func monthNames(set uint32) string {
	if isSpan(set) {
		months, _ := progressionOf(uint64(set))
		return monthName(months.first) + " to " + monthName(months.last)
	}
	return enumerate(texts(uint64(set), monthName))
}

func monthName(m int) string { return time.Month(m).String() }

func numbers(set uint64) string {
	if p, even := progressionOf(set); even && p.step == 1 && p.n > 2 {
		return fmt.Sprintf("%d to %d", p.first, p.last)
	}
	return enumerate(texts(set, func(v int) string { return fmt.Sprint(v) }))
}

// texts renders each value of a set.
func texts(set uint64, text func(int) string) (list []string) {
	for ; set != 0; set &= set - 1 {
		list = append(list, text(bits.TrailingZeros64(set)))
	}
	return list
}

// enumerate joins the words as in "a, b and c".
func enumerate(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}

func ordinal(n int) string {
	suffix := "th"
	if n/10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n) + suffix
}

const (
	allDoms   = 1<<32 - 1<<1
	allMonths = 1<<13 - 1<<1
	allDows   = 1<<7 - 1
)
