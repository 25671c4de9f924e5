package cronjob

import (
	"cmp"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
)

const (
	// maxBackfill is how many jobs a round creates for all backfills.
	maxBackfill = 10
	// maxLook is how many runs a round looks at for one backfill.
	maxLook = 100
)

// startBackfills starts what the backfills ask for, in the order of their IDs, beside the run
// that the round starts. The turn says what all of them depend on.
func startBackfills(s *Snapshot, c *census, started []Creation, turn backfillTurn) (all moves) {
	if s.CronJob.isDeleted() {
		return moves{}
	}

	sorted := make([]*Backfill, len(s.Backfills))
	for i := range s.Backfills {
		sorted[i] = &s.Backfills[i]
	}
	slices.SortFunc(sorted, func(a, b *Backfill) int { return cmp.Compare(a.ID, b.ID) })

	own := c.ownRuns()
	turn.names, turn.hasJob, turn.behind = &c.names, c.jobNamed(len(sorted)*maxLook), c.behind
	turn.active += c.countBusy()

	for _, b := range sorted {
		if s.Schedule.Problem != "" {
			all.waits = append(all.waits, Wait{Reason: cronjobreason.WaitBackfill, Name: b.ID})
			continue
		}
		turn.limit = backfillLimit(b, s.Options.MaxActive)
		turn.created = append(slices.Clip(started), all.create...)
		all = all.and(stepBackfill(s, b, own, &turn))
	}
	return all
}

// stepBackfill takes one backfill as far as it gets.
func stepBackfill(s *Snapshot, b *Backfill, own []time.Time, turn *backfillTurn) moves {
	step := backfillStep{Backfill: *b}
	step.Except = turn.names.sorted(b.Except)
	step, out := walk(s, step, turn)

	step.Except = settledAhead(&step.Backfill, own, turn.names)
	step.Moved = !step.After.Equal(b.After) || !slices.EqualFunc(step.Except, b.Except, time.Time.Equal)
	switch {
	case step.Moved, step.IsComplete(), len(out.create) > 0:
		out.backfills = []backfillStep{step}
	}
	return out
}

// walk goes from run to run through what is left of the range. Runs that took
// place move After. The others start, up to the first that may not.
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
			created := append(turn.created, out.create...)
			if held, ok := turn.hold(step.ID, run, name, created); ok {
				return step, out.and(held)
			}
			out.create = append(out.create, backfill(s, step.ID, name, run))
			started = true
		}

		if at = run; !started {
			step.After = run
		}
	}

	out.unfinished = true
	return step, out
}

// backfillTurn is what the runs of a backfill depend on in a round.
type backfillTurn struct {
	// Runs from reserved on are left to the schedule. Nothing starts while held says that a run
	// of the schedule is held back.
	now, reserved time.Time
	held          bool
	// late is since when the snapshots have been behind, and behind says that they are.
	late   time.Time
	behind bool
	limit  int32
	// active are the active jobs, and the jobs of triggers that the round creates; created are
	// the other jobs that it creates.
	active  int
	created []Creation
	names   *names
	hasJob  func(name string) bool
}

// hold returns what a run waits for, and false if it starts beside the jobs that the round creates.
func (t *backfillTurn) hold(id string, run time.Time, name string, created []Creation) (held moves, ok bool) {
	wait := Wait{Reason: cronjobreason.WaitBackfill, Name: id, Run: run}
	hasName := func(c Creation) bool { return c.Name == name }
	switch busy := t.active + len(created); {
	case run.After(t.now):
		wait.Until = run
	case !t.reserved.IsZero() && !run.Before(t.reserved): // it is left to the schedule
	case t.behind && t.limit > 0:
		return waitForSnapshot(t.now, t.late, run, id), true
	case t.held, isAtLimit(t.limit, busy):
		wait.Jobs = busy
		return moves{waits: []Wait{wait}, blocked: true}, true
	case countBackfilled(created) >= maxBackfill, slices.ContainsFunc(created, hasName):
		return moves{unfinished: true}, true // the next round goes on
	default:
		return moves{}, false
	}
	return waitsFor(wait), true
}

// backfillLimit returns the number of active jobs from which on a backfill waits. Zero
// means no limit.
func backfillLimit(b *Backfill, maxActive int32) int32 {
	switch own := b.MaxActive; {
	case b.Overlap != Allow:
		return 1
	case own == 0 || maxActive > 0 && maxActive < own:
		return maxActive
	default:
		return own
	}
}

// backfill describes the job of a run that was requested.
func backfill(s *Snapshot, id, name string, run time.Time) Creation {
	c := creationOf(s, name, run, cronjobreason.CreateBackfilled)
	c.Backfill = id
	c.Annotations[s.Options.Marks.requestKey()] = backfilled
	return c
}
