package schedule

import (
	"iter"
	"math"
	"time"
)

// Schedule is a compiled schedule with its zone and policies. It is a small immutable value: copy
// it, share it between goroutines, keep it in a snapshot. The zero Schedule never runs. Compare
// schedules with Equal, not with ==.
type Schedule struct {
	plan *plan
}

// plan is shared by all copies of a schedule. Either table.zone is set, or every.seconds.
type plan struct {
	spec string
	// Runs lie in (after, until].
	after, until int64
	// If hasSingle is true, single is one more run, in addition to those of the fields or the
	// interval.
	single    int64
	hasSingle bool
	// evenSince is the instant since which each minute of UTC has runs, at the same seconds in all
	// of them; MaxInt64 if there is none.
	evenSince int64
	// also and except are the specs of combined schedules.
	also, except []string

	zone           *zone
	table          timetable
	every          interval
	never, special bool
	// reference implements Next instead of table; nil without option Kubernetes.
	reference *reference
}

// Prev returns the last run earlier than t, in the schedule's zone, or the zero Time if there is
// none since the year 1. It is the inverse of Next: for every run r, Prev(Next(r)) is r.
func (s Schedule) Prev(t time.Time) time.Time {
	unix := max(t.Unix(), firstUnix)
	if t.Nanosecond() == 0 {
		unix--
	}

	if s.Never() || unix <= s.plan.after {
		return time.Time{}
	}
	return s.plan.instant(s.plan.prev(unix))
}

// Latest returns the last run in (after, now], and whether there is one. If argument after is the
// last run that was handled, the result is the run that is due at now. Latest takes as long as
// Next, no matter how long the span is (B1).
func (s Schedule) Latest(after, now time.Time) (time.Time, bool) {
	from, until := span(after, now)
	if s.Never() || from >= until || until <= s.plan.after {
		return time.Time{}, false
	}

	run, ok := s.plan.prev(until)
	if !ok || run <= from {
		return time.Time{}, false
	}
	return s.plan.instant(run, true), true
}

// Count returns the number of runs in (after, now] (B1). It does not visit them: it needs two
// lookups, and two more for each transition of the zone in the span. If an int has 32 bits, a
// larger count is returned as the largest int.
func (s Schedule) Count(after, now time.Time) int {
	from, until := span(after, now)
	if s.Never() || from >= until {
		return 0
	}
	return int(min(s.plan.count(from, until), math.MaxInt))
}

// Between returns the runs in (after, until], earliest first. Each costs one
// Next, and only when it is requested.
func (s Schedule) Between(after, until time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for run := s.Next(after); !run.IsZero() && !run.After(until); run = s.Next(run) {
			if !yield(run) {
				return
			}
		}
	}
}

// NextN returns the first n runs later than t, earliest first, fewer if there are fewer.
// Each costs one Next, and only when it is requested.
func (s Schedule) NextN(t time.Time, n int) iter.Seq[time.Time] { return upTo(n, t, s.Next) }

// PrevN returns the last n runs earlier than t, latest first, fewer if there are fewer.
// Each costs one Prev, and only when it is requested.
func (s Schedule) PrevN(t time.Time, n int) iter.Seq[time.Time] { return upTo(n, t, s.Prev) }

// upTo returns up to n runs, each found from the one before.
func upTo(n int, t time.Time, find func(time.Time) time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		run := t
		for range n {
			if run = find(run); run.IsZero() || !yield(run) {
				return
			}
		}
	}
}

// Never reports whether the schedule has no run at all: no date matches its fields, as with 31
// February, no run is within its bounds, or it is the zero Schedule (S3). Such a schedule parses,
// because robfig/cron accepts it. No method finds a run, except Next with option Kubernetes, which
// returns the wrong runs that robfig/cron finds.
func (s Schedule) Never() bool {
	return s.plan == nil || s.plan.never
}

// DistinctMinutes reports whether each minute has at most one run, apart from minutes that the wall
// clock shows twice. It is false for "@every" with less than a minute, for several seconds of a
// minute, and for seconds with RunSkippedAtGapEnd or RunAfterAnchor, which add runs at other
// seconds.
func (s Schedule) DistinctMinutes() bool {
	if s.plan == nil {
		return true
	}
	if every := s.plan.every.seconds; every > 0 {
		return every >= 60
	}

	t := &s.plan.table
	oneSecond := t.seconds.perMinute() == 1 && !t.gapEnd && !s.plan.hasSingle
	return t.seconds == 0 || oneSecond
}

// Location returns the zone of the schedule, UTC for the zero Schedule.
func (s Schedule) Location() *time.Location {
	if s.plan == nil {
		return time.UTC
	}
	return s.plan.zone.location
}

// Equal reports whether the two schedules run at the same times for the same
// reason: equal fields, the same zone, the same policies, the same bounds. "0 9 * * 1"
// and "0 9 * * mon" are equal.
func (s Schedule) Equal(other Schedule) bool {
	if s.plan == nil || other.plan == nil || s.plan == other.plan {
		return s.plan == other.plan
	}

	a, b := s.plan, other.plan
	switch {
	case a.every != b.every,
		!a.table.equal(&b.table.pattern),
		a.table.seconds != b.table.seconds,
		a.table.gapEnd != b.table.gapEnd,
		a.table.repeated != b.table.repeated,
		a.after != b.after,
		a.until != b.until,
		a.hasSingle != b.hasSingle,
		a.single != b.single,
		(a.reference == nil) != (b.reference == nil):
		return false
	}
	return a.zone.equal(b.zone)
}

// String returns the fields as they were given to Parse, without zone and bounds, followed by
// the fields of Also and Except.
func (s Schedule) String() string {
	if s.plan == nil {
		return ""
	}

	text := s.plan.spec
	for _, spec := range s.plan.also {
		text += " also " + spec
	}
	for _, spec := range s.plan.except {
		text += " except " + spec
	}
	return text
}

// span returns (after, until] in whole seconds, limited to the supported years. Runs are at whole
// seconds, so truncating both ends does not change which runs are inside.
func span(after, until time.Time) (from, to int64) {
	return max(after.Unix(), firstUnix), min(until.Unix(), lastUnix)
}

// hasSingleIn reports whether the single run lies in (from, to].
func (p *plan) hasSingleIn(from, to int64) bool {
	return p.hasSingle && from < p.single && p.single <= to
}

// prev returns the last run at or before an instant, which must be later than the lower bound. The
// run lies within the bounds.
func (p *plan) prev(unix int64) (run int64, ok bool) {
	unix = min(unix, p.until)
	if p.every.seconds > 0 {
		run, ok = p.every.prev(unix)
	} else {
		run, ok = p.table.prev(unix)
	}
	if p.hasSingleIn(p.after, unix) && (!ok || p.single > run) {
		run, ok = p.single, true
	}

	return run, ok && run > p.after
}

func (p *plan) count(after, until int64) int64 {
	after, until = max(after, p.after), min(until, p.until)
	if after >= until {
		return 0
	}

	n := p.regular(after, until)
	if p.hasSingleIn(after, until) && p.regular(p.single-1, p.single) == 0 {
		n++
	}
	return n
}

// regular counts the runs of the fields or of the interval.
func (p *plan) regular(after, until int64) int64 {
	if p.every.seconds > 0 {
		return p.every.count(after, until)
	}
	return p.table.count(after, until)
}
