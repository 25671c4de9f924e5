package schedule

// A zone is a sequence of stretches in which wall clock and instants differ by a
// constant. The runs of a stretch are therefore the pattern's times in one
// wall-clock interval. This file joins the stretches.

// repeated says which run is kept of a wall-clock time that is shown twice.
type repeated uint8

const (
	repeatedBoth repeated = iota
	repeatedFirst
	repeatedLast
)

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

// slack is more than any offset differs from UTC.
const slack = 36 * 60 * 60

// window is the wall-clock interval [lo, hi) whose times run in the stretch (S4). To run
// a repeated time once, one of the two neighbours is cut shorter. This assumes that
// a stretch shows all that its neighbour's end repeats. In every zone of the
// database it does, since stretches last longer than overlaps; in a custom zone
// where they do not, an interval may be empty.
func (t *timetable) window(s stretch) (lo, hi civil) {
	lo, hi = civilAt(s.start, s.offset), civilAt(s.end, s.offset)
	switch t.repeated {
	case repeatedFirst:
		lo = max(lo, civilAt(s.start, s.prev()))
	case repeatedLast:
		hi = min(hi, civilAt(s.end, s.next()))
	}
	return lo, max(lo, hi)
}

// runsAtStart reports whether times were skipped just before the stretch and
// run at its first instant (S4).
func (t *timetable) runsAtStart(s stretch) bool {
	if !t.gapEnd || s.offset <= s.prev() {
		return false
	}
	return t.from(civilAt(s.start, s.prev())) < civilAt(s.start, s.offset)
}

// next returns the first run after an instant of the supported range. Most runs
// are in the stretch of the instant.
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

// nextAcross returns the first run of a stretch or of a later one, where c is the
// pattern's first time on the clock of the stretch.
func (t *timetable) nextAcross(s stretch, c civil) (int64, bool) {
	_, hi := t.window(s)
	for c >= hi {
		if s.end > lastUnix {
			return 0, false
		}

		onward, overlap := s.end, s.next() < s.offset
		if !overlap {
			// The pattern has nothing between here and c, so stretches that end
			// well before c contain neither a run nor a gap that skips one. Right
			// after an overlap this would be wrong: the next stretch repeats times
			// that c has already passed.
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
			back = min(back, unixAt(c, -slack)) // as in next
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
		// Calendar and rule repeat together, so whole cycles count alike. This
		// bounds the number of transitions below.
		from := max(after, ruleBegins) + secondsPerDay
		cycles := (until - from) / secondsPerCycle
		n = cycles * t.countStretches(from, from+secondsPerCycle)
		n += t.countStretches(after, from)
		after = from + cycles*secondsPerCycle
	}
	return n + t.countStretches(after, until)
}

// countStretches counts the times as if the wall clock had run evenly, and corrects
// the count at each transition by the times in the gap or overlap.
func (t *timetable) countStretches(after, until int64) int64 {
	s := t.zone.at(after)
	n := -t.before(t.reached(s, after))
	for s.end <= until {
		following := t.zone.at(s.end)
		if s.offset != following.offset {
			n += t.correction(s, following)
		}
		s = following
	}
	return n + t.before(t.reached(s, until))
}

// reached returns the wall-clock time (exclusive) up to which the window of s has
// run at the instant.
func (t *timetable) reached(s stretch, unix int64) civil {
	lo, hi := t.window(s)
	return max(lo, min(hi, civilAt(unix+1, s.offset)))
}

func (t *timetable) correction(s, following stretch) int64 {
	_, hi := t.window(s)
	lo, _ := t.window(following)
	n := int64(0)
	switch {
	case lo < hi:
		n = t.between(lo, hi)
	case lo > hi:
		n = -t.between(hi, lo)
	}

	if t.runsAtStart(following) && !t.matches(civilAt(following.start, following.offset)) {
		n++
	}
	return n
}
