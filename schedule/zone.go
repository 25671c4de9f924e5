package schedule

import (
	"math"
	"slices"
	"time"
)

// zone is a compiled time zone: the instants at which its offset from UTC changes,
// as numbers. The numbers come from a time.Location, which gives the same answers
// but interprets the zone's rule text each time; that is too slow for counting over
// twenty transitions. Immutable, so schedules may share one.
type zone struct {
	location *time.Location

	// moves are sorted by since. The first one begins before all supported times. The
	// last one marks the end of the list: it begins with the yearly rule, or after
	// all supported times.
	moves []move

	// index makes finding a move faster: entry i is the index of the move that is in effect at the
	// beginning of the i-th slot. The first slot begins just before the second move.
	index   []uint32
	indexed int64 // the beginning of the first slot

	// yearly, if not nil, is the rule from the year firstRuledYear on.
	yearly *yearlyRule

	// lost holds the ends of gaps of half a day or more, which may skip a date (see referenceNext).
	lost []int64
}

// equal compares also the names: zones with equal moves today may differ in a later zone database.
func (z *zone) equal(other *zone) bool {
	return z == other || z.location.String() == other.location.String() && slices.Equal(z.moves, other.moves)
}

// move is a change of a zone's offset: the time of the change and the new offset.
type move struct {
	since  int64
	offset int64
}

// Before firstRuledYear, a zone lists its transitions, and a search in the list is faster than the
// rule. From then on, a zone with a yearly rule needs only the rule: zic, which compiles the zone
// database, lists transitions only up to 2037 if a rule follows.
const (
	firstRuledYear = 2100
	ruleBegins     = 4102444800
)

// yearlyRule is a rule like "last Sunday of March and of October". For each kind of year, it lists
// the offsets of the year. Each has the second of the year, in UTC, at which it begins. The first
// offset begins with the year.
type yearlyRule [yearKinds]struct {
	n     int
	turns [maxTurns]struct{ after, offset int32 }
}

// maxTurns is one more than the two transitions a year that a rule can have.
const maxTurns = 3

// stretch is an interval [start, end) with one offset. It also holds the offsets of the stretches
// before and after it, which may be the same.
//
// It has four fields because the compiler keeps no larger struct in registers,
// and passing this one through memory doubles the cost of Next.
type stretch struct {
	start, end int64
	offset     int64
	around     neighbours
}

// neighbours holds the offsets before and after a stretch, 32 bits each.
type neighbours uint64

func around(prev, next int64) neighbours {
	return neighbours(uint32(prev))<<32 | neighbours(uint32(next))
}

func (s stretch) prev() int64 { return int64(int32(s.around >> 32)) }
func (s stretch) next() int64 { return int64(int32(s.around)) }

// The first stretch begins and the last one ends well outside of the supported years, so that sums
// of times and offsets need no check.
const (
	beginning = firstUnix - 2*secondsPerDay
	ending    = lastUnix + 2*secondsPerDay
)

// at returns the stretch that contains the instant.
func (z *zone) at(unix int64) stretch {
	if z.yearly != nil && unix >= ruleBegins {
		return z.byRule(unix)
	}
	return z.byMove(z.place(unix))
}

// place returns the index of the last move at or before an instant. It never returns the entry that
// ends the list.
func (z *zone) place(unix int64) int {
	if last := len(z.moves) - 2; unix >= z.moves[last].since {
		return last
	}

	slot := min(max(unix-z.indexed, 0)>>slotBits, int64(len(z.index)-1))
	i := int(z.index[slot])
	for z.moves[i+1].since <= unix {
		i++
	}
	return i
}

// slotBits is the logarithm of a slot's length: 2^25 seconds, a little more than a year.
const slotBits = 25

func (z *zone) indexMoves() {
	z.indexed = z.moves[1].since - 1
	last := len(z.moves) - 2
	for i, start := 0, z.indexed; ; start += 1 << slotBits {
		for i < last && z.moves[i+1].since <= start {
			i++
		}
		z.index = append(z.index, uint32(i))
		if i == last {
			return
		}
	}
}

// wholeMinutesSince returns the instant since which all offsets are whole minutes.
func (z *zone) wholeMinutesSince() int64 {
	if z.yearly != nil && !z.yearly.isInMinutes() {
		return math.MaxInt64
	}

	since := int64(beginning)
	for i, m := range z.moves[:len(z.moves)-1] {
		if m.offset%60 != 0 {
			since = z.moves[i+1].since
		}
	}
	return since
}

func (z *zone) byMove(i int) stretch {
	m, following := z.moves[i], z.moves[i+1]
	prev := m.offset
	if i > 0 {
		prev = z.moves[i-1].offset
	}

	return stretch{m.since, following.since, m.offset, around(prev, following.offset)}
}

func (z *zone) byRule(unix int64) stretch {
	year := yearAt(unix)
	begins := yearBegins(year)
	rule := &z.yearly[kindOf(year)]
	i := rule.n - 1
	for i > 0 && unix < begins+int64(rule.turns[i].after) {
		i--
	}

	until, next := yearBegins(year+1), z.yearly.first(year+1)
	if i+1 < rule.n {
		until, next = begins+int64(rule.turns[i+1].after), int64(rule.turns[i+1].offset)
	}

	prev := z.yearly.last(year - 1)
	if i > 0 {
		prev = int64(rule.turns[i-1].offset)
	}

	start := begins + int64(rule.turns[i].after)
	return stretch{start, until, int64(rule.turns[i].offset), around(prev, next)}
}

func (r *yearlyRule) isInMinutes() bool {
	for kind := range r {
		for _, turn := range r[kind].turns[:r[kind].n] {
			if turn.offset%60 != 0 {
				return false
			}
		}
	}
	return true
}

// first returns the offset at the beginning of a year in UTC, and last the offset at its end.
func (r *yearlyRule) first(year int) int64 { return int64(r[kindOf(year)].turns[0].offset) }

func (r *yearlyRule) last(year int) int64 {
	k := &r[kindOf(year)]
	return int64(k.turns[k.n-1].offset)
}

// yearAt returns the year of an instant in UTC.
func yearAt(unix int64) int {
	year, rest := yearOf((unix + unixCivil) / secondsPerDay)
	if rest >= daysToJanuary {
		year++
	}
	return int(year)
}

// yearBegins returns the instant at which a year begins in UTC.
func yearBegins(year int) int64 { return newYear(year)*secondsPerDay - unixCivil }
