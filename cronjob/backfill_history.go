package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
)

// recordBackfilled records the latest of the given runs, so that the history may delete their jobs
// (C2). Backfills have started all these runs. Once a run is recorded, the schedule starts no
// earlier one, so a run is recorded only if the schedule has no earlier run left to start. Runs up
// to argument base do not start any more.
//
// The jobs of the other runs are kept. Such a run is in the future because the clock went back, or
// it is later than a run that the schedule still has to start.
func recordBackfilled(s *Snapshot, c *census, w *window, base time.Time, runs []time.Time) (out moves) {
	if s.Schedule.Problem != 0 {
		return moves{}
	}

	wait := func(until time.Time) {
		if until.After(s.Now) {
			out.waits = append(out.waits, Wait{Reason: cronjobreason.WaitHistory, Until: until})
		}
	}
	until, givenUp := c.nothingLeftBefore(s, w, base)
	var next time.Time
	for _, run := range runs {
		if run.After(until) {
			next = givenUp
		} else {
			out.recorded = later(out.recorded, run)
		}

		if run.After(s.Now) {
			wait(run) // jitter does not delay backfills
		} else {
			wait(w.startOf(run))
		}
	}
	wait(next)
	return out
}

// nothingLeftBefore returns a time before which the schedule will start no run. With CatchUpAll,
// that is the first run that has no job and may still start. Otherwise, or if there is no such run,
// it is now. The second result is the time at which that run is given up: at its deadline, or when
// a later run exceeds the catch-up limit. Zero means unknown.
func (c *census) nothingLeftBefore(s *Snapshot, w *window, base time.Time) (until, givenUp time.Time) {
	until = s.Now // jitter does not delay backfills
	if s.Options.CatchUp != CatchUpAll {
		return until, time.Time{}
	}

	due := pickDue(s.Schedule.Schedule, w.closed(base, s.Now), until, &s.Options)
	first := due.due

	hasJob := c.jobNamed(maxLook)
	for range maxLook {
		if isBeyond(first, until) {
			return until, time.Time{}
		}
		if !hasJob(c.names.of(first).String()) {
			break
		}
		first = s.Schedule.Schedule.Next(first)
	}

	if w.bounded {
		givenUp = first.Add(w.deadline)
	}
	return first, sooner(givenUp, beyondLimit(s, s.Options.catchUpLimit()-due.overdue))
}

// beyondLimit returns the time at which the oldest overdue run exceeds the catch-up limit, or zero
// if it never does. Argument room is the number of further runs that can become overdue before that
// time.
func beyondLimit(s *Snapshot, room int) time.Time {
	if room > 0 && !s.CronJob.isSuspended() {
		return time.Time{} // the schedule's own runs ask for rounds
	}

	at := s.Schedule.Schedule.Next(s.Now)
	for i := 0; i < min(room, maxLook) && !at.IsZero(); i++ {
		at = s.Schedule.Schedule.Next(at)
	}
	return at
}
