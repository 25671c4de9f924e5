package schedule

import (
	"iter"
	"math"
	"time"
)

// Schedule is a compiled schedule with its zone and policies. It is a small
// immutable value: copy it, share it between goroutines, keep it in a snapshot. The
// zero Schedule never runs. Two schedules that were parsed separately may differ
// under == although they are the same; use Equal.
type Schedule struct {
	plan *plan
}

// plan is what all copies of a schedule share. Either table.zone is set, or
// every.seconds.
type plan struct {
	spec string
	// also and except are the specs of combined schedules.
	also, except []string

	zone  *zone
	table timetable
	every interval
	// reference answers Next in place of the table; nil without Kubernetes136.
	reference *reference
}

// Next returns the first run later than t, in the schedule's zone, or the zero
// Time if there is none until the end of the year 9999.
func (s Schedule) Next(t time.Time) time.Time {
	unix := t.Unix()
	if s.plan != nil && s.plan.reference != nil && unix < lastUnix {
		return s.plan.referenceNext(t)
	}
	if s.Never() {
		return time.Time{}
	}
	return s.plan.instant(s.plan.next(min(max(unix, firstUnix), lastUnix)))
}

// Prev returns the last run earlier than t, in the schedule's zone, or the
// zero Time if there is none since the year 1. It undoes Next: for every run r,
// Prev(Next(r)) is r.
func (s Schedule) Prev(t time.Time) time.Time {
	unix := max(t.Unix(), firstUnix)
	if t.Nanosecond() == 0 {
		unix--
	}
	if s.Never() || unix <= firstUnix {
		return time.Time{}
	}
	return s.plan.instant(s.plan.prev(min(unix, lastUnix)))
}

// Latest returns the last run in (after, now], and whether there is one: the run
// that is due at now if after was the last one handled. It costs as much as Next,
// however long the span (B1).
func (s Schedule) Latest(after, now time.Time) (time.Time, bool) {
	from, until := span(after, now)
	if s.Never() || from >= until {
		return time.Time{}, false
	}
	run, ok := s.plan.prev(until)
	if !ok || run <= from {
		return time.Time{}, false
	}
	return s.plan.instant(run, true), true
}

// Count returns the number of runs in (after, now] (B1). It visits none of them: it
// costs two lookups, and two more for each transition of the zone in the span.
// Where an int has 32 bits, a count that is too large is returned as the largest
// int.
func (s Schedule) Count(after, now time.Time) int {
	from, until := span(after, now)
	if s.Never() || from >= until {
		return 0
	}
	return int(min(s.plan.count(from, until), math.MaxInt))
}

// Between returns the runs in (after, until], earliest first. Each costs one
// Next, and only when it is asked for.
func (s Schedule) Between(after, until time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for run := s.Next(after); !run.IsZero() && !run.After(until); run = s.Next(run) {
			if !yield(run) {
				return
			}
		}
	}
}

// NextN returns the first n runs later than t, fewer if there are fewer.
func (s Schedule) NextN(t time.Time, n int) []time.Time {
	var runs []time.Time
	for run := s.Next(t); len(runs) < n && !run.IsZero(); run = s.Next(run) {
		runs = append(runs, run)
	}
	return runs
}

// Never reports that no date matches the fields, as with 31 February, or that
// the schedule is the zero one (S3). Such a schedule parses, because the
// reference accepts it; all its answers are "none", but for Next under
// Kubernetes136, which gives the wrong runs that the reference finds.
func (s Schedule) Never() bool {
	return s.plan == nil || s.plan.every.seconds == 0 && s.plan.table.never()
}

// Location returns the zone of the schedule, UTC for the zero Schedule.
func (s Schedule) Location() *time.Location {
	if s.plan == nil {
		return time.UTC
	}
	return s.plan.zone.location
}

// Equal reports whether the two schedules run at the same times for the same
// reason: equal fields, the same zone, the same policies. "0 9 * * 1"
// and "0 9 * * mon" are equal.
func (s Schedule) Equal(other Schedule) bool {
	if s.plan == nil || other.plan == nil || s.plan == other.plan {
		return s.plan == other.plan
	}
	a, b := s.plan, other.plan
	return a.every == b.every && a.table.equal(&b.table.pattern) &&
		a.table.gapEnd == b.table.gapEnd && a.table.repeated == b.table.repeated &&
		(a.reference == nil) == (b.reference == nil) &&
		a.zone.equal(b.zone)
}

// String returns the fields as they were given to Parse, without the zone, followed by
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

// span turns (after, until] into whole seconds inside the supported years.
// Runs lie on whole seconds, so cutting fractions off on both sides moves no
// run across a border.
func span(after, until time.Time) (from, to int64) {
	return max(after.Unix(), firstUnix), min(until.Unix(), lastUnix)
}

func (p *plan) next(unix int64) (int64, bool) {
	if p.every.seconds > 0 {
		return p.every.next(unix)
	}
	return p.table.next(unix)
}

func (p *plan) prev(unix int64) (int64, bool) {
	if p.every.seconds > 0 {
		return p.every.prev(unix)
	}
	return p.table.prev(unix)
}

func (p *plan) count(after, until int64) int64 {
	if p.every.seconds > 0 {
		return p.every.count(after, until)
	}
	return p.table.count(after, until)
}

func (p *plan) instant(unix int64, ok bool) time.Time {
	if !ok {
		return time.Time{}
	}
	return time.Unix(unix, 0).In(p.zone.location)
}
