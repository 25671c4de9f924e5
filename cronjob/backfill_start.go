package cronjob

import (
	"cmp"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
)

const (
	// maxBackfill limits the jobs that a round creates for all backfills together.
	maxBackfill = 10
	// maxLook limits the runs that a round looks at for one backfill.
	maxLook = 100
)

// startBackfills starts runs of the backfills, in the order of their IDs. Runs up to argument last
// are recorded or set aside. Argument created holds the other jobs that the round creates.
func startBackfills(s *Snapshot, c *census, run *dueRun, last time.Time, created []Creation) (all moves) {
	if s.CronJob.isDeleted() {
		return moves{}
	}

	sorted := make([]*Backfill, len(s.Backfills))
	for i := range s.Backfills {
		sorted[i] = &s.Backfills[i]
	}
	slices.SortFunc(sorted, func(a, b *Backfill) int { return cmp.Compare(a.ID, b.ID) })

	turn := backfillTurn{
		census:   c,
		reserved: reserved(s, &run.timing, last),
		held:     run.holds(),
		active:   c.countBusy(),
		created:  slices.Clip(created),
		own:      c.ownRuns(),
		hasJob:   c.jobNamed(len(sorted) * maxLook),
	}
	for _, b := range sorted {
		if s.Schedule.Problem != 0 {
			all.waits = append(all.waits, Wait{Reason: cronjobreason.WaitBackfill, Name: b.ID})
			continue
		}
		turn.limit = limitOf(b.Overlap, b.MaxActive, s.Options.MaxActive)
		all.add(stepBackfill(s, b, &turn))
	}
	return all
}

// reserved returns the first run that the schedule is going to start by itself, or zero. All runs
// that are not later than argument last are recorded or set aside. Of the later runs, the schedule
// starts the due run or, with CatchUpAll, all overdue runs.
func reserved(s *Snapshot, t *timing, last time.Time) time.Time {
	switch {
	case t.due.After(last):
		return t.due
	case s.Options.CatchUp == CatchUpAll && t.latest.After(last):
		return s.Schedule.Schedule.Next(last)
	}
	return t.next
}

// stepBackfill advances one backfill as far as possible.
func stepBackfill(s *Snapshot, b *Backfill, turn *backfillTurn) moves {
	step := backfillStep{Backfill: *b}
	step.Except = turn.names.sorted(b.Except)
	step, out := walk(s, step, turn)

	step.Except = settledAhead(&step.Backfill, turn.own, &turn.names)
	step.Moved = !step.After.Equal(b.After) || !slices.EqualFunc(step.Except, b.Except, time.Time.Equal)
	switch {
	case step.Moved, step.IsComplete(), len(out.create) > 0:
		out.backfills = []backfillStep{step}
	}
	return out
}

// walk visits the runs between step.After and step.Until, in order. It starts runs without a job,
// and stops at the first run that must wait. It moves After past settled runs, but not past the
// first run that it starts.
func walk(s *Snapshot, step backfillStep, turn *backfillTurn) (backfillStep, moves) {
	var out moves

	at := step.After
	for range maxLook {
		run, started := s.Schedule.Schedule.Next(at), len(out.create) > 0
		if isBeyond(run, step.Until) {
			if step.Last = started; !started {
				step.After = step.Until
			}
			return step, out
		}

		if name := turn.names.of(run).String(); !turn.names.has(step.Except, run) && !turn.hasJob(name) {
			if held, ok := turn.hold(step.ID, run, name); ok {
				out.add(held)
				return step, out
			}
			c := backfill(s, step.ID, name, run)
			turn.created = append(turn.created, c)
			out.start(c, turn.limit > 0)
			started = true
		}

		if at = run; !started {
			step.After = run
		}
	}

	out.Unfinished = true
	return step, out
}

// backfillTurn holds the conditions for the runs of the backfills in a round.
type backfillTurn struct {
	*census
	// The schedule starts the runs at or after the time reserved; if that is zero, it starts none
	// of them. If held is true, a run of the schedule is held back, and the backfills start
	// nothing.
	reserved time.Time
	held     bool
	// limit is the number of jobs, active and created, at which the present backfill waits.
	limit int32
	// active is the number of active jobs, and created holds the jobs that the round creates.
	active  int
	created []Creation
	// own are the runs that have a job. hasJob reports whether a job has a name.
	own    []time.Time
	hasJob func(name string) bool
}

// hold returns the moves of a run that must wait. It returns false if the run can start.
func (t *backfillTurn) hold(id string, run time.Time, name string) (held moves, ok bool) {
	wait := Wait{Reason: cronjobreason.WaitBackfill, Name: id, Run: run}
	hasName := func(c Creation) bool { return c.Name == name }
	switch busy := t.active + len(t.created); {
	case run.After(t.now):
		wait.Until = run
	case !t.reserved.IsZero() && !run.Before(t.reserved): // the schedule starts it
	case t.behind && t.limit > 0:
		return t.waitForSnapshot(run, id), true
	case t.held, isAtLimit(t.limit, busy):
		wait.Jobs = busy
		held.Blocked = true
	case countBackfilled(t.created) >= maxBackfill, slices.ContainsFunc(t.created, hasName):
		held.Unfinished = true // the next round continues
		return held, true
	default:
		return moves{}, false
	}
	held.waits = []Wait{wait}
	return held, true
}
