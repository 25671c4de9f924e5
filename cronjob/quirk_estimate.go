package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/schedule"
)

// estimated is what the reference makes of a span.
type estimated struct {
	// latest is the run it takes for the latest; zero is none.
	latest time.Time
	// missed is how many runs it believes to have been missed.
	missed int64
	// invalid is true where it gives the schedule up.
	invalid bool
}

// noGap is what the reference says of a schedule whose first two runs it cannot tell
// apart, since there are none.
const noGap = "time difference between two schedules is less than 1 second"

// estimateDue is findDue with cronjobquirk.Estimate.
//
// Quirk: the reference takes the gap between the first two runs for that between
// all, jumps by it to just before now, and looks from there. For a schedule with
// uneven gaps it can land behind the latest run, and then nothing starts
// (CJ1-CJ3).
func estimateDue(t timing, s schedule.Schedule, now time.Time) timing {
	found := estimate(s, t.earliest, now)
	if found.invalid {
		t.invalid = true
		return t // and it never looks again
	}

	t.pick = pick{found.latest, found.latest, int(min(found.missed, tooMany+1))}
	t.next = estimateNext(s, t.base, now)
	return t
}

// estimateNext finds the next run as the reference does. Once it has started the run
// that is due, it looks from there, whatever its first look made of the deadline. Its
// own latest run matters for "@every", which counts from there.
func estimateNext(s schedule.Schedule, base, now time.Time) time.Time {
	from, whole := now, estimate(s, base, now)
	switch {
	case whole.invalid:
	case !whole.latest.IsZero():
		from = whole.latest
	case whole.missed == 0:
		from = base
	}
	return s.Next(from)
}

// estimate looks for the latest run in (after, now] as the reference does.
func estimate(s schedule.Schedule, after, now time.Time) estimated {
	first := s.Next(after)
	second := s.Next(first)
	switch {
	case first.IsZero():
		return estimated{invalid: true}
	case now.Before(first):
		return estimated{}
	case now.Before(second):
		return estimated{latest: first}
	}

	gap := second.Sub(first).Round(time.Second)
	if second.IsZero() || gap < time.Second {
		return estimated{invalid: true}
	}
	gaps := int64(now.Sub(first).Truncate(time.Second) / gap)
	return estimated{
		latest: lastByStep(s, first.Add(time.Duration(gaps-1)*gap), now),
		missed: gaps + 1,
	}
}

// maxSteps bounds the walk of lastByStep. Beyond it, the exact answer is used.
const maxSteps = 1000

// lastByStep walks from run to run up to now.
func lastByStep(s schedule.Schedule, from, now time.Time) (last time.Time) {
	run := s.Next(from)
	for range maxSteps {
		if isBeyond(run, now) {
			return last
		}
		last, run = run, s.Next(run)
	}
	last, _ = s.Latest(from, now)
	return last
}
