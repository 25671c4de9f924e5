package schedule

// timetable is a pattern on the clock of a zone, with seconds, and with the policies for
// gaps and overlaps (S4). Immutable.
type timetable struct {
	pattern
	seconds    seconds
	eachMinute bool // with seconds: the pattern matches every minute
	zone       *zone
	gapEnd     bool // a time in a gap runs at the end of the gap
	repeated   repeated
}

// slack is larger than any offset from UTC.
const slack = 36 * 60 * 60

// next returns the first run after an instant of the supported range. Most runs are in the same
// stretch as the instant.
func (t *timetable) next(unix int64) (int64, bool) {
	if unix >= ruleBegins || t.repeated != repeatedBoth {
		s := t.zone.at(unix)
		lo, _ := t.window(s)
		return t.nextAcross(s, t.from(max(lo, civilAt(unix+1, s.offset))))
	}

	i := t.zone.place(unix)
	offset := t.zone.moves[i].offset
	c := civilAt(unix+1, offset)
	if t.daily {
		c = t.timeFrom(c)
	} else {
		c = t.from(c)
	}

	if run := unixAt(c, offset); run < t.zone.moves[i+1].since {
		return run, run <= lastUnix
	}
	return t.nextAcross(t.zone.byMove(i), c)
}

// nextAcross returns the first run at or after the wall-clock time c in s, or in a later stretch.
// Argument c is a time of the pattern on the clock of s, and may be later than the end of s.
func (t *timetable) nextAcross(s stretch, c civil) (int64, bool) {
	_, hi := t.window(s)
	for c >= hi {
		if s.end > lastUnix {
			return 0, false
		}

		onward, overlap := s.end, s.next() < s.offset
		if !overlap {
			// The pattern has no time between the end of s and c. So no stretch that ends well before
			// c has a run, and no gap before c skips one. The search leaves these stretches out. If s
			// ends with an overlap, the search looks at them, because the next stretch repeats times
			// that are earlier than c.
			onward = max(onward, unixAt(c, slack))
		}

		s = t.zone.at(onward)
		if t.runsAtStart(s) {
			return s.start, s.start <= lastUnix
		}
		var lo civil
		lo, hi = t.window(s)
		if overlap || c < lo {
			c = t.from(lo)
		}
	}

	run := unixAt(c, s.offset)
	return run, run <= lastUnix
}

// prev returns the last run at or before an instant of the supported range.
func (t *timetable) prev(unix int64) (int64, bool) {
	s := t.zone.at(unix)
	lo, hi := t.window(s)

	c := t.upTo(min(hi-1, civilAt(unix, s.offset)))
	for c < lo {
		if s.start <= firstUnix {
			return 0, false
		}
		if t.runsAtStart(s) {
			return s.start, true
		}

		back := s.start - 1
		if s.prev() <= s.offset {
			back = min(back, unixAt(c, -slack)) // as in nextAcross
		}
		s = t.zone.at(back)
		lo, hi = t.window(s)
		c = t.upTo(hi - 1)
	}

	run := unixAt(c, s.offset)
	return run, run > firstUnix
}

// count returns the number of runs in (after, until].
func (t *timetable) count(after, until int64) int64 {
	n := int64(0)
	if z := t.zone; z.yearly != nil && until-max(after, ruleBegins) > 2*secondsPerCycle {
		// Calendar and rule repeat every cycle, so all cycles have the same count. This limits the
		// number of transitions to visit.
		from := max(after, ruleBegins) + secondsPerDay
		cycles := (until - from) / secondsPerCycle
		n = cycles * t.countStretches(from, from+secondsPerCycle)
		n += t.countStretches(after, from)
		after = from + cycles*secondsPerCycle
	}
	return n + t.countStretches(after, until)
}
