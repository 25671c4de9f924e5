package schedule

import (
	"slices"
	"time"
)

// Compiling a zone uses only two pure methods of package time: they return the offset at an
// instant, and how long it holds.

// lostDay is the length in seconds from which a gap counts as skipping a date. Real gaps that skip
// a date are 24 hours long.
const lostDay = 12 * 60 * 60

func compileZone(loc *time.Location) *zone {
	z := &zone{location: loc}
	until := int64(lastUnix)
	if hasYearlyRule(loc) {
		z.yearly = compileRule(loc)
		until = ruleBegins - 1
	}

	moves := movesOf(loc, beginning, until)
	end := move{since: ending, offset: moves[len(moves)-1].offset}
	if z.yearly != nil {
		end = move{since: ruleBegins, offset: z.yearly.first(firstRuledYear)}
	}
	z.moves = slices.Clone(append(moves, end))
	z.indexMoves()

	for i := 1; i < len(z.moves)-1; i++ {
		if z.moves[i].offset-z.moves[i-1].offset >= lostDay {
			z.lost = append(z.lost, z.moves[i].since)
		}
	}
	return z
}

// hasYearlyRule reports whether a rule applies in the last year. Without one, the last offset has
// no end.
func hasYearlyRule(loc *time.Location) bool {
	_, ends := time.Unix(lastUnix, 0).In(loc).ZoneBounds()
	return !ends.IsZero()
}

// movesOf lists the offsets in [from, until]. It goes forward in time because
// ZoneBounds does not give the exact beginning of the stretch in which the yearly
// rule starts.
func movesOf(loc *time.Location, from, until int64) []move {
	moves := []move{{since: from, offset: offsetAt(loc, from)}}
	for u := stretchEnd(loc, from); u <= until; u = stretchEnd(loc, u) {
		if o := offsetAt(loc, u); o != moves[len(moves)-1].offset {
			moves = append(moves, move{since: u, offset: o})
		}
	}
	return moves
}

func offsetAt(loc *time.Location, unix int64) int64 {
	_, offset := time.Unix(unix, 0).In(loc).Zone()
	return int64(offset)
}

// stretchEnd returns an instant after unix until which the offset does not change.
func stretchEnd(loc *time.Location, unix int64) int64 {
	_, ends := time.Unix(unix, 0).In(loc).ZoneBounds()
	if ends.IsZero() {
		return ending
	}

	if ends.Unix() > unix {
		return ends.Unix()
	}
	// Quirk: on the last day of a leap year, ZoneBounds of a zone with a yearly
	// rule returns the beginning of that day as the end of the stretch.
	return yearBegins(yearAt(unix) + 1)
}

// compileRule reads one year of each kind from 28 years in which only the rule applies.
func compileRule(loc *time.Location) *yearlyRule {
	r := new(yearlyRule)
	for year := 2401; year < 2401+28; year++ {
		k := &r[kindOf(year)]
		if k.n > 0 {
			continue
		}

		begins := yearBegins(year)
		for _, m := range movesOf(loc, begins, yearBegins(year+1)-1) {
			if k.n == maxTurns {
				break // unreachable: a rule names two transitions
			}
			k.turns[k.n].after = int32(m.since - begins)
			k.turns[k.n].offset = int32(m.offset)
			k.n++
		}
	}
	return r
}
