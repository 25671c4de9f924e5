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

// startBackfills starts runs of the backfills, in the order of their IDs. Argument started holds
// the jobs that the round creates for the schedule. Argument turn holds the conditions for all
// backfills.
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
		if s.Schedule.Problem != 0 {
			all.waits = append(all.waits, Wait{Reason: cronjobreason.WaitBackfill, Name: b.ID})
			continue
		}
		turn.limit = backfillLimit(b, s.Options.MaxActive)
		turn.created = append(slices.Clip(started), all.create...)
		all = all.and(stepBackfill(s, b, own, &turn))
	}
	return all
}

// stepBackfill advances one backfill as far as possible.
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

// backfillTurn holds the conditions for the runs of a backfill in a round.
type backfillTurn struct {
	// The schedule starts the runs at or after the time reserved; if that is zero, it starts none
	// of them. If held is true, a run of the schedule is held back, and the backfills start
	// nothing.
	now, reserved time.Time
	held          bool
	// behind is true if the snapshot lacks the controller's own writes; late is the time since
	// which snapshots have lacked them.
	late   time.Time
	behind bool
	limit  int32
	// active is the number of active jobs and of jobs that the round creates for triggers; created
	// holds the other jobs that the round creates.
	active  int
	created []Creation
	names   *names
	hasJob  func(name string) bool
}

// hold returns the moves of a run that must wait. It returns false if the run can start in addition
// to the jobs in argument created.
func (t *backfillTurn) hold(id string, run time.Time, name string, created []Creation) (held moves, ok bool) {
	wait := Wait{Reason: cronjobreason.WaitBackfill, Name: id, Run: run}
	hasName := func(c Creation) bool { return c.Name == name }
	switch busy := t.active + len(created); {
	case run.After(t.now):
		wait.Until = run
	case !t.reserved.IsZero() && !run.Before(t.reserved): // the schedule starts it
	case t.behind && t.limit > 0:
		return waitForSnapshot(t.now, t.late, run, id), true
	case t.held, isAtLimit(t.limit, busy):
		wait.Jobs = busy
		return moves{waits: []Wait{wait}, blocked: true}, true
	case countBackfilled(created) >= maxBackfill, slices.ContainsFunc(created, hasName):
		return moves{unfinished: true}, true // the next round continues
	default:
		return moves{}, false
	}
	return waitsFor(wait), true
}

// backfillLimit returns the number of active jobs at which a backfill waits. Zero means no limit.
func backfillLimit(b *Backfill, maxActive int32) int32 {
	switch own := b.MaxActive; {
	case b.Overlap == Forbid:
		return 1
	case own == 0 || maxActive > 0 && maxActive < own:
		return maxActive
	default:
		return own
	}
}

// backfill returns the creation of a requested run's job.
func backfill(s *Snapshot, id, name string, run time.Time) Creation {
	c := creationOf(s, name, run, cronjobreason.CreateBackfilled)
	c.Backfill = id
	c.Annotations[s.Options.Marks.requestKey()] = backfilled
	return c
}
