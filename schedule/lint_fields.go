package schedule

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
)

// part is one element of a field's list, as written.
type part struct {
	text             string
	field            int
	first, last      int // the first and the last value
	step             int // 0 without a slash
	open, wholeField bool
}

// parts splits the fields of the main schedule and of the schedules of Also; a field of
// seconds comes last.
func (s Schedule) parts() (all []part) {
	for _, spec := range slices.Concat([]string{s.plan.spec}, s.plan.also) {
		if strings.HasPrefix(spec, "@") {
			continue
		}
		fields := splitFields(spec)
		for i, field := range fields {
			for text := range strings.SplitSeq(field, ",") {
				if text != "" {
					all = append(all, partOf(i, text))
				}
			}
		}
	}
	return all
}

// partOf parses a part that robfig/cron has accepted.
func partOf(field int, text string) part {
	var days specialDays
	if special, _ := days.add(field, text); special {
		return part{text: text, field: field, first: days.farthest()}
	}

	r := rangeOf(field)
	base, step, _ := strings.Cut(text, "/")
	low, high, ranged := strings.Cut(base, "-")
	p := part{text: text, field: field, step: max(0, valueOf(field, step))}
	end := r.max

	switch {
	case low == "*" || low == "?":
		p.first = r.min
	case ranged:
		p.first, end = valueOf(field, low), valueOf(field, high)
	case p.step > 0:
		p.first, p.open = valueOf(field, low), true
	default:
		p.first, end = valueOf(field, low), valueOf(field, low)
	}

	p.wholeField = p.first == r.min && end == r.max
	p.last = end
	if p.step > 0 {
		p.last = p.first + (end-p.first)/p.step*p.step
	}
	return p
}

// lintEachMinute reports schedules whose smallest fields are stars although the next field has
// single values or a step. It also returns the schedule that runs once for each of these values.
func (s Schedule) lintEachMinute() (message, once string) {
	if s.isInterval() || s.plan.table.combined != nil || strings.HasPrefix(s.plan.spec, "@") {
		return "", ""
	}

	fields := strings.Fields(s.plan.spec) // as written: the seconds first
	isStar := func(field string) bool { return field == "*" || field == "?" || field == "*/1" }
	hour := len(fields) - 4
	first, times := 0, 1
	if _, err := strconv.Atoi(fields[0]); err == nil && hour == 2 {
		first = 1 // a second of each minute that matches
	}
	stars := first
	for ; stars <= hour && isStar(fields[stars]); stars++ {
		times *= 60
		if stars == hour {
			times = times / 60 * 24
		}
	}
	if stars == first {
		return "", ""
	}

	next := stars
	if next == hour+1 && isStar(fields[next]) {
		next = len(fields) - 1 // the day of the week
	}
	for text := range strings.SplitSeq(fields[next], ",") {
		isRange := strings.Contains(text, "-") && !strings.Contains(text, "/") && text[0] != 'L'
		if isStar(text) || isRange {
			return "", ""
		}
	}

	for i := first; i < stars; i++ {
		fields[i] = "0"
	}
	once = strings.Join(fields, " ")
	part := [...]string{"on each of its days", "in each of its hours", "in each of its minutes"}[hour+1-stars]
	return fmt.Sprintf("%q runs %d times %s; %q runs once", s.plan.spec, times, part, once), once
}

// lintUnevenStep reports uneven steps that reach the end of their field. A range that ends before
// the end of its field is not reported.
func (s Schedule) lintUnevenStep() string {
	if s.isInterval() {
		return ""
	}
	for _, p := range s.parts() {
		toTheEnd := p.open || p.wholeField
		if p.step < 2 || !toTheEnd || !s.plan.table.goesOn(p.field) {
			continue
		}

		name := fieldNames[p.field]
		if p.field == dayField {
			return fmt.Sprintf("%s %q is uneven: it begins again on the %s of each month, "+
				"whatever day comes before", name, p.text, ordinal(p.first))
		}
		r := rangeOf(p.field)
		if gap := r.max - r.min + 1 - p.last + p.first; gap != p.step {
			return fmt.Sprintf("%s %q is uneven: from %d to the next %d it is %d, not %d",
				name, p.text, p.last, p.first, gap, p.step)
		}
	}
	return ""
}

// goesOn reports whether a field's values can continue across the end of the field:
// seconds from one minute to the next, minutes from one hour to the next, and so on.
func (p *pattern) goesOn(field int) bool {
	switch field {
	case 0:
		return p.hours&(p.hours<<1|p.hours>>23&1) != 0
	case 1:
		follow := func(days uint32) bool { return days&(days<<1) != 0 }
		return slices.ContainsFunc(p.days[:], func(days [7]uint32) bool { return slices.ContainsFunc(days[:], follow) })
	case 2:
		return p.months&(p.months<<1|p.months>>12&1<<1) != 0
	case 5:
		return p.minutes&(p.minutes<<1|p.minutes>>59&1) != 0
	}
	return true
}

// lintMissingDay reports days that some months do not have, and ranges that begin with such a day.
func (s Schedule) lintMissingDay() string {
	if s.isInterval() || s.plan.table.combined != nil { // another schedule may add a run
		return ""
	}

	months := s.plan.table.months
	for _, p := range s.parts() {
		var days specialDays
		if special, _ := days.add(p.field, p.text); special && days.ofWeekdays[5] != 0 {
			weekday := time.Weekday(bits.TrailingZeros8(days.ofWeekdays[5]))
			return fmt.Sprintf("some months have no 5th %s: no run for %q there", weekday, p.text)
		}
		if p.field != dayField || p.open {
			continue
		}

		var lacking uint32
		for month := 1; month <= 12; month++ {
			// Kind 0 is a common year.
			if months>>month&1 == 1 && bits.OnesCount32(calendar.month[0][month].days) < p.first {
				lacking |= 1 << month
			}
		}
		if lacking == 0 {
			continue
		}

		leap := ""
		if p.first == 29 {
			leap = " of most years"
		}
		return fmt.Sprintf("%s %s no %s%s: no run for %q there", enumerate(texts(uint64(lacking), monthName)),
			hasOrHave(uint64(lacking)), ordinal(p.first), leap, p.text)
	}
	return ""
}

// hasOrHave returns the verb after a list of names.
func hasOrHave(set uint64) string {
	if bits.OnesCount64(set) == 1 {
		return "has"
	}
	return "have"
}
