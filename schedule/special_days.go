package schedule

import (
	"cmp"
	"fmt"
	"math/bits"
	"strings"
	"time"
)

// specialDays are the days of WithSpecialDays. They depend on the number of days of the month, or
// on the weekday of its first day.
type specialDays struct {
	fromEnd    uint32   // bit n: n days before the last, as in L or L-3
	near       uint32   // bit n: the working day nearest to the nth, as in 15W
	nearToEnd  uint32   // bit n: the working day nearest to n days before the last, as in LW
	ofWeekdays [6]uint8 // [n]: the weekdays whose nth day matches, as in 5#2; [0]: the last, as in 5L
}

func (d *specialDays) any() bool { return *d != specialDays{} }

// take removes the special days from the fields of a schedule.
func (d *specialDays) take(spec, text string, seconds bool) (plain string, err error) {
	fields := strings.Fields(text)
	hasFields := len(fields) == 5 || len(fields) == 6 && seconds
	if !hasFields || strings.HasPrefix(text, "@") {
		return text, nil // a descriptor, or a text that does not parse
	}

	for _, index := range []int{dayField, weekdayField} {
		field := &fields[len(fields)-5+index]
		var others []string
		for part := range strings.SplitSeq(*field, ",") {
			special, err := d.add(index, part)
			if err != nil {
				return "", &ParseError{spec, fieldNames[index], *field, err}
			}
			if !special {
				others = append(others, part)
			}
		}
		*field = cmp.Or(strings.Join(others, ","), ",") // to robfig/cron, a comma is an empty list
	}
	return strings.Join(fields, " "), nil
}

// add adds one part of a list. It returns false for a part that is not a special day.
func (d *specialDays) add(index int, part string) (special bool, err error) {
	first, _, _ := strings.Cut(part, "-")
	switch {
	case first == "*" || first == "?":
		return false, nil // robfig/cron does not read what follows, as in *-5W
	case index == dayField && strings.ContainsAny(part, "LW"):
		return true, d.addDate(part)
	case index == weekdayField && (strings.HasSuffix(part, "L") || strings.Contains(part, "#")):
		return true, d.addWeekday(part)
	}
	return false, nil
}

func (d *specialDays) addDate(part string) error {
	day, near := strings.CutSuffix(part, "W")
	before, fromEnd := strings.CutPrefix(day, "L-")
	n := unsigned(dayField, before)
	isBefore := fromEnd && 1 <= n && n <= 30
	isDate := !fromEnd && 1 <= n && n <= 31

	switch {
	case day == "L" && near:
		d.nearToEnd |= 1
	case day == "L":
		d.fromEnd |= 1
	case isBefore && near:
		d.nearToEnd |= 1 << n
	case isBefore:
		d.fromEnd |= 1 << n
	case isDate: // with W, or it would be no special day
		d.near |= 1 << n
	default:
		return fmt.Errorf("%q: want L, L-1 to L-30, or 1W to 31W, or W after one of the former, as in LW", part)
	}
	return nil
}

func (d *specialDays) addWeekday(part string) error {
	day, nth, counted := strings.Cut(part, "#")
	n := unsigned(dayField, nth)
	if !counted {
		day, n = strings.TrimSuffix(part, "L"), 0
	}

	weekday := unsigned(weekdayField, day)
	switch {
	case day != "" && valueProblem(weekdayField, day, day) != "":
		return fmt.Errorf("%q: %s", part, valueProblem(weekdayField, day, day))
	case weekday < 0, n > 5, counted && n < 1:
		return fmt.Errorf("%q: want the 1st to the 5th of a weekday, as in 5#1, or the last, as in 5L", part)
	}
	d.ofWeekdays[n] |= 1 << weekday
	return nil
}

// unsigned is like valueOf, but refuses numbers such as +5. robfig/cron accepts them in plain
// fields.
func unsigned(index int, value string) int {
	if strings.HasPrefix(value, "+") {
		return -1
	}
	return valueOf(index, value)
}

// daysOfMonth returns the days of each field in a month.
func (d *specialDays) daysOfMonth(firstWeekday, length int) (byDate, byWeekday uint32) {
	for day := 1; day <= length; day++ {
		weekday := (firstWeekday + day - 1) % 7
		if d.fromEnd>>(length-day)&1 == 1 {
			byDate |= 1 << day
		}
		if d.near>>day&1 == 1 || d.nearToEnd>>(length-day)&1 == 1 {
			byDate |= 1 << workingDay(day, weekday, length)
		}

		nth, isLast := (day+6)/7, day+7 > length
		if d.ofWeekdays[nth]>>weekday&1 == 1 || isLast && d.ofWeekdays[0]>>weekday&1 == 1 {
			byWeekday |= 1 << day
		}
	}
	return byDate, byWeekday
}

// workingDay returns the day from Monday to Friday that is nearest to a day and in the same month.
func workingDay(day, weekday, length int) int {
	switch {
	case weekday == int(time.Saturday) && day == 1:
		return 3
	case weekday == int(time.Saturday):
		return day - 1
	case weekday == int(time.Sunday) && day == length:
		return day - 2
	case weekday == int(time.Sunday):
		return day + 1
	}
	return day
}

// farthest returns how many days a month must have to contain all of the dates.
func (d *specialDays) farthest() int {
	return bits.Len32(d.near|(d.fromEnd|d.nearToEnd)<<1) - 1
}

// dates describes the days of the field day-of-month, and weekdays those of day-of-week.
func (d *specialDays) dates() []string {
	list := texts(uint64(d.fromEnd), beforeLast)
	near := func(day string) string { return "the weekday nearest to " + day }
	for _, day := range texts(uint64(d.near), ordinal) {
		list = append(list, near("the "+day))
	}
	for _, day := range texts(uint64(d.nearToEnd), beforeLast) {
		list = append(list, near(day))
	}
	return list
}

func (d *specialDays) weekdays() (list []string) {
	for n, set := range d.ofWeekdays {
		nth := ordinal(n)
		if n == 0 {
			nth = "last"
		}
		for _, day := range texts(uint64(set), func(day int) string { return time.Weekday(day).String() }) {
			list = append(list, "the "+nth+" "+day)
		}
	}
	return list
}

func beforeLast(n int) string {
	if n == 0 {
		return "the last day"
	}
	return "the " + ordinal(n) + " day before the last"
}
