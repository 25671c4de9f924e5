package schedule

// A zone is a sequence of stretches in which wall clock and instants differ by a
// constant. The runs of a stretch are therefore the pattern's times in one
// wall-clock interval. This file computes the intervals between clock changes, such as the start
// and end of daylight saving time (DST); timetable.go searches across them.

// repeated is the policy for wall-clock times that are shown twice: which of the two runs is kept.
type repeated uint8

const (
	repeatedBoth repeated = iota
	repeatedFirst
	repeatedLast
)

// window returns the interval [lo, hi) of the wall-clock times that run in the stretch (S4). If
// repeated times run only once, one of the two stretches around an overlap leaves them out. This
// assumes that stretches last longer than overlaps, as in every zone of the database. In a custom
// zone with shorter stretches, an interval may be empty.
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

// runsAtStart reports whether matching times were skipped just before the stretch and therefore run
// at its first instant (S4).
func (t *timetable) runsAtStart(s stretch) bool {
	if !t.gapEnd || s.offset <= s.prev() {
		return false
	}
	return t.from(civilAt(s.start, s.prev())) < civilAt(s.start, s.offset)
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

// reached returns the end (exclusive) of the part of the window of s that has passed at the
// instant.
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
