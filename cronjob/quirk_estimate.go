package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/schedule"
)

// estimated is Kubernetes' estimate of the runs in a span of time.
type estimated struct {
	// latest is the run that Kubernetes considers the latest; zero means none.
	latest time.Time
	// missed is the estimated number of missed runs.
	missed int64
	// invalid is true if Kubernetes refuses the schedule.
	invalid bool
}

// noGap is the message of Kubernetes about a schedule with fewer than two runs, or with runs less
// than a second apart.
const noGap = "time difference between two schedules is less than 1 second"

// estimateDue is findDue with cronjobquirk.Estimate.
//
// Quirk: Kubernetes assumes that the gap between the first two runs is the gap between all runs,
// jumps by multiples of it to just before now, and searches from there. If the gaps are uneven, it
// can jump past the latest run, and then nothing starts (CJ1-CJ3).
func estimateDue(t timing, s schedule.Schedule, now time.Time) timing {
	found := estimate(s, t.earliest, now)
	if found.invalid {
		t.invalid = true
		return t // Kubernetes never looks again
	}

	t.pick = pick{found.latest, found.latest, int(min(found.missed, tooMany+1))}
	t.next = estimateNext(s, t.base, now)
	return t
}

// estimateNext finds the next run as Kubernetes does: after the run that Kubernetes considers the
// latest, without regard to the deadline. Where the search starts matters for "@every", which
// counts from there.
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

// estimate looks for the latest run in (after, now] as Kubernetes does.
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

// maxSteps limits the steps of lastByStep. For more runs, lastByStep computes the exact answer.
const maxSteps = 1000

// lastByStep steps from run to run and returns the last one in (from, now], or zero.
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
