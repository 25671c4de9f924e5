package cronjob

import (
	"cmp"
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// Backfill asks for the runs of the schedule in a range of time that have no job:
// runs from before the CronJob was created, missed runs, runs of an outage. They
// start the oldest first, some in a round, whether or not the CronJob is suspended;
// startingDeadlineSeconds, the catch-up options and jitter are not about them. The
// job of a run is the same as if the schedule had started it, except that the annotation
// cronjob.kubernetes.io/instantiate says "backfill". It is named after the run, so a run
// never gets a second job (C13, CI1).
//
// A run took place if its job is there, whatever became of the job: delete the job
// of a failed run to have it run again. Nothing is known of a run whose job was deleted
// before the backfill was asked for, by the history or by hand: it runs again, unless
// Except names it.
//
// The schedule goes first. A run that it is going to start is left to it, and no
// other starts while a run that is due is held back. lastScheduleTime stays what it
// is. The jobs are active jobs: Forbid and Options.MaxActive count them. Replace
// spares them, since no run of the schedule takes their place; only one that is
// active and not among the children cannot be told from others.
type Backfill struct {
	// ID tells backfills apart.
	ID string `json:"id"`
	// After and Until are the range: runs later than After and not later than Until.
	// Runs that are not due yet start when they are.
	After time.Time `json:"after"`
	Until time.Time `json:"until"`
	// Overlap is Forbid when empty: a run starts when no job is active, so they go
	// one by one. With Allow they start beside others.
	Overlap ConcurrencyPolicy `json:"overlap,omitempty"`
	// MaxActive holds runs back while so many jobs are active, jobs of the schedule
	// included; zero means no limit but Options.MaxActive.
	MaxActive int32 `json:"maxActive,omitempty"`
	// Except are runs to leave out, told apart by the minute, as names are.
	Except []time.Time `json:"except,omitempty"`
}

// IsComplete reports whether nothing of the range is left.
func (b *Backfill) IsComplete() bool { return !b.After.Before(b.Until) }

const (
	// maxBackfill is how many jobs a round creates for all backfills.
	maxBackfill = 10
	// maxLook is how many runs a round looks at for one backfill.
	maxLook = 100
)

// backfilled is the value of instantiateAnnotation on the job of a backfill.
const backfilled = "backfill"

func (b *Backfill) check() error {
	field := "backfills[" + b.ID + "]."
	switch {
	case b.ID == "":
		return invalid("backfills.id", b.ID, "is required")
	case b.After.IsZero():
		return invalid(field+"after", "", "is required")
	case b.Until.Before(b.After):
		return invalid(field+"until", value.Time(b.Until), "must not be before after")
	case b.Overlap != "" && b.Overlap != Allow && b.Overlap != Forbid:
		return invalid(field+"overlap", string(b.Overlap), "must be Allow or Forbid")
	case b.MaxActive < 0:
		return invalid(field+"maxActive", b.MaxActive, "must not be negative")
	}
	return nil
}

func checkBackfills(all []Backfill) error {
	for i := range all {
		if err := all[i].check(); err != nil {
			return err
		}
	}
	if len(all) < 2 {
		return nil
	}
	ids := make(map[string]bool, len(all))
	for i := range all {
		if ids[all[i].ID] {
			return invalid("backfills.id", all[i].ID, "must be unique")
		}
		ids[all[i].ID] = true
	}
	return nil
}

// startBackfills starts what the backfills ask for, in the order of their IDs. Runs from
// reserved on are left to the schedule. Nothing starts while held says that a run of the
// schedule is held back.
func startBackfills(plan *Plan, s *Snapshot, c *census, reserved time.Time, held bool) {
	if len(s.Backfills) == 0 || s.CronJob.isDeleted() {
		return
	}
	all := slices.SortedFunc(slices.Values(s.Backfills), func(a, b Backfill) int { return cmp.Compare(a.ID, b.ID) })
	hasJob := c.jobNamed(len(all) * maxLook)
	for i := range all {
		b := &all[i]
		if s.Schedule.Problem != "" {
			plan.wait(Wait{Reason: WaitBackfill, Name: b.ID})
			continue
		}
		step := backfillStep{Backfill: *b}
		step.Except = sortedRuns(b.Except)
		walk(plan, s, &step, hasJob, backfillTurn{
			now: s.Now, reserved: reserved, held: held, behind: c.behind,
			limit: backfillLimit(b, s.Options.MaxActive), active: len(c.active),
		})
		step.Except = runsAfter(c.settledAhead(&step.Backfill), step.After)
		step.Moved = !step.After.Equal(b.After) || !slices.EqualFunc(step.Except, b.Except, time.Time.Equal)
		plan.basis.Backfills = append(plan.basis.Backfills, step)
	}
}

// walk goes from run to run through what is left of the range. Runs that took
// place move After. The others start, up to the first that may not.
func walk(plan *Plan, s *Snapshot, step *backfillStep, hasJob func(name string) bool, turn backfillTurn) {
	started, at := false, step.After
	for range maxLook {
		run := s.Schedule.Schedule.Next(at)
		if run.IsZero() || run.After(step.Until) {
			if step.Last = started; !started {
				step.After = step.Until
			}
			return
		}
		if name := JobName(s.CronJob.Name, run); !hasRun(step.Except, run) && !hasJob(name) {
			if o := turn.findObstacle(run, name, plan.Create); o != backfillFree {
				turn.explain(plan, step.ID, run, o)
				return
			}
			plan.Create = append(plan.Create, backfill(s, step.ID, name, run))
			started = true
		}
		if at = run; !started {
			step.After = run
		}
	}
	plan.basis.Unfinished = true
}

// backfillTurn is what the runs of a backfill depend on in a round.
type backfillTurn struct {
	now, reserved time.Time
	held, behind  bool
	limit         int32
	active        int
}

// backfillObstacle is what keeps a run of a backfill from starting.
type backfillObstacle uint8

const (
	backfillFree     backfillObstacle = iota
	backfillNotDue                    // it is later than now
	backfillReserved                  // it is left to the schedule
	backfillStale                     // the snapshot is older than the controller's own writes (CI15)
	backfillHeld                      // other jobs are active, or a run of the schedule waits
	backfillLater                     // this round creates enough jobs, or already the job of the run
)

// findObstacle finds what keeps a run from starting, besides the jobs that the round
// creates before it.
func (t *backfillTurn) findObstacle(run time.Time, name string, created []Creation) backfillObstacle {
	switch {
	case run.After(t.now):
		return backfillNotDue
	case !t.reserved.IsZero() && !run.Before(t.reserved):
		return backfillReserved
	case t.behind && t.limit > 0:
		return backfillStale
	case t.held || isAtLimit(t.limit, t.active+len(created)):
		return backfillHeld
	case countBackfilled(created) >= maxBackfill || slices.ContainsFunc(created, func(c Creation) bool { return c.Name == name }):
		return backfillLater
	}
	return backfillFree
}

// explain says what a run waits for.
func (t *backfillTurn) explain(plan *Plan, id string, run time.Time, o backfillObstacle) {
	wait := Wait{Reason: WaitBackfill, Name: id, Run: run}
	switch o {
	case backfillNotDue:
		wait.Until = run
	case backfillHeld:
		plan.basis.Blocked = true
		wait.Jobs = t.active + len(plan.Create)
	case backfillStale:
		waitForSnapshot(plan, run, id)
		return
	case backfillLater:
		plan.basis.Unfinished = true
		return
	}
	plan.wait(wait)
}

// countBackfilled counts the creations of backfills, which come last.
func countBackfilled(created []Creation) (n int) {
	for n < len(created) && created[len(created)-1-n].Backfill != "" {
		n++
	}
	return n
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

// backfill describes the job of a run that was asked for.
func backfill(s *Snapshot, id, name string, run time.Time) Creation {
	c := creation(s, name, run, CreateBackfilled)
	c.Backfill = id
	c.Annotations[instantiateAnnotation] = backfilled
	return c
}
