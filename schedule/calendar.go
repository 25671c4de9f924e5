package schedule

import "time"

// The proleptic Gregorian calendar on a wall clock. Wall-clock times are
// plain numbers here: a zone turns them into instants (zone.go).

// civil is a wall-clock time in seconds since 1 March of the year 0, without a
// zone. With that origin all times of the supported years are positive, so that
// division is simple, and the leap day is the last day of its year.
type civil int64

const (
	secondsPerDay = 24 * 60 * 60
	minutesPerDay = 24 * 60

	// unixDay is the day number of 1970-01-01, counted from 1 March of year 0.
	unixDay   = 719468
	unixCivil = unixDay * secondsPerDay

	daysPerCycle    = 146097 // of 400 years: a whole number of weeks
	secondsPerCycle = daysPerCycle * secondsPerDay

	// Runs lie in (firstUnix, lastUnix]. All runs are later than the zero Time, which can therefore
	// mean "none". No run is after the year 9999, the last year that RFC 3339 can write.
	firstUnix = -62135596800
	lastUnix  = 253402300799
)

// civilAt returns the wall-clock time at a Unix time, on a clock that is offset seconds ahead of
// UTC.
func civilAt(unix, offset int64) civil { return civil(unix + offset + unixCivil) }

// unixAt returns the instant at which a clock with that offset shows c.
func unixAt(c civil, offset int64) int64 { return int64(c) - offset - unixCivil }

// yearOf takes a day number (days since 1 March of year 0, not negative). It returns the year that
// contains the day, and the number of the day in that year, counted from 0. Years begin in March
// here. The divisions are replaced by multiplications as in Neri and Schneider, "Euclidean affine
// functions and their application to calendar algorithms" (2022).
func yearOf(day int64) (year, rest uint32) {
	quarters := 4*uint32(day) + 3
	century := quarters / daysPerCycle
	product := 2939745 * uint64(quarters%daysPerCycle|3)
	return 100*century + uint32(product>>32), uint32(product) / 2939745 / 4
}

// dateOf splits a day number into year, month 1-12 and day of the month.
func dateOf(day int64) (year, month, dom int) {
	y, rest := yearOf(day)
	month, dom = monthOf(rest)
	if rest >= daysToJanuary {
		return int(y) + 1, month - 12, dom + 1
	}
	return int(y), month, dom + 1
}

// monthOf splits a day of a year that begins in March into month, 3 for March to 14
// for February, and day of the month, counted from 0.
func monthOf(rest uint32) (month, dom int) {
	product := 2141*rest + 197913
	return int(product >> 16), int(product&0xffff) / 2141
}

// monthBegins is the inverse of monthOf: the day of the year that is the first of a month.
func monthBegins(month int) int64 { return (979*int64(month) - 2919) >> 5 }

// daysToJanuary is the number of days from 1 March to 31 December.
const daysToJanuary = 306

// newYear returns the day number of 1 January of a year; the year is not negative.
func newYear(year int) int64 {
	y := uint64(year)
	return int64(y*365+(y+3)/4-(y+99)/100+(y+399)/400) - 366 + daysToJanuary
}

// weekdayOf returns 0 for Sunday to 6 for Saturday.
func weekdayOf(day int64) uint { return uint(day+3) % 7 }

func isLeap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

// yearKinds is the number of kinds of years. Years of one kind begin on the same weekday, and all
// or none of them are leap years. Calendar and yearly zone rule depend on the kind alone. Kinds
// repeat every 400 years, so a table with an entry for each kind serves all years.
const yearKinds = 14

// monthShape holds the facts needed to match the days of a month in a kind of year.
type monthShape struct {
	weekday uint8  // of its first day
	length  uint8  // its number of days less 28
	offset  uint16 // days from 1 January to its first day
	days    uint32 // bit d is set for each day d of the month
}

// calendarTables is filled once and never written again.
type calendarTables struct {
	kind   [400]uint8                // kind of year y at y%400
	before [401][yearKinds]uint8     // years of each kind in [0, i) of a cycle
	month  [yearKinds][13]monthShape // by kind and month 1-12
}

var calendar = newCalendarTables()

func newCalendarTables() *calendarTables {
	t := new(calendarTables)
	for i := range t.kind {
		year := 400 + i
		k := int(weekdayOf(newYear(year)))
		if isLeap(year) {
			k += 7
		}
		t.kind[i] = uint8(k)
		t.before[i+1] = t.before[i]
		t.before[i+1][k]++
		t.month[k] = monthShapes(k)
	}
	return t
}

func monthShapes(kind int) (shapes [13]monthShape) {
	lengths := [13]int{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
	if kind >= 7 {
		lengths[2] = 29
	}

	offset := 0
	for m := 1; m <= 12; m++ {
		shapes[m] = monthShape{
			weekday: uint8((kind%7 + offset) % 7),
			length:  uint8(lengths[m] - 28),
			offset:  uint16(offset),
			days:    uint32(1<<(lengths[m]+1) - 2),
		}
		offset += lengths[m]
	}
	return shapes
}

// kindOf returns the kind of a year; the year is not negative.
func kindOf(year int) int { return int(calendar.kind[uint(year)%400]) }

// text returns the time as text, with seconds unless they are zero.
func (c civil) text() string {
	if c%60 == 0 {
		return c.format("15:04 on 2006-01-02")
	}
	return c.format("15:04:05 on 2006-01-02")
}

func (c civil) format(layout string) string {
	return time.Unix(unixAt(c, 0), 0).UTC().Format(layout)
}
