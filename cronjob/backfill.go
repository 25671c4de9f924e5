package cronjob

import (
	"cmp"
	"slices"
	"time"
)

// Backfill asks for the runs of the schedule in a range of time that have no job:
// runs from before the CronJob was created, missed ones, those of an outage. They
// start the oldest first, some in a round, whether or not the CronJob is suspended;
// startingDeadlineSeconds, the catch-up options and jitter are not about them. The
// job of a run is the same as if the schedule had started it, except that
// [InstantiateAnnotation] says "backfill". It is named after the run, so a run
// never gets a second job (C13, CI1).
//
// A run took place if its job is there, whatever became of the job: delete the job
// of a failed run to have it run again. Of a run whose job is gone, deleted by the
// history or by hand before the backfill was asked for, nothing is known: it runs
// again, unless Except names it.
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
	// MaxActive holds runs back while so many jobs are active, those of the schedule
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

// backfilled is the value of InstantiateAnnotation on the job of a backfill.
const backfilled = "backfill"

func (b *Backfill) check() error {
	field := "backfills[" + b.ID + "]."
	switch {
	case b.ID == "":
		return invalid("backfills.id", b.ID, "is required")
	case b.After.IsZero():
		return invalid(field+"after", "", "is required")
	case b.Until.Before(b.After):
		return invalid(field+"until", formatTime(b.Until), "must not be before after")
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

// startBackfills starts what was asked for, in the order of the IDs.
func (p *Planner) startBackfills() {
	if len(p.snap.Backfills) == 0 || p.cj.isDeleted() {
		return
	}
	all := slices.SortedFunc(slices.Values(p.snap.Backfills), func(a, b Backfill) int { return cmp.Compare(a.ID, b.ID) })
	p.hasJob = p.jobNamed(len(all) * maxLook)
	for i := range all {
		b := &all[i]
		if p.snap.Schedule.Problem != "" {
			p.wait(Wait{Reason: WaitBackfill, Name: b.ID})
			continue
		}
		step := backfillStep{Backfill: *b}
		step.Except = sortedRuns(b.Except)
		p.walk(&step)
		p.noteAhead(&step.Backfill)
		step.Except = runsAfter(step.Except, step.After)
		step.Moved = !step.After.Equal(b.After) || !slices.EqualFunc(step.Except, b.Except, time.Time.Equal)
		p.plan.basis.Backfills = append(p.plan.basis.Backfills, step)
	}
}

// walk goes from run to run through what is left of the range. Runs that took
// place move After; the others start, up to the first that may not.
func (p *Planner) walk(step *backfillStep) {
	p.limited = p.backfillLimit(&step.Backfill) > 0
	started, at := false, step.After
	for range maxLook {
		run := p.snap.Schedule.Schedule.Next(at)
		if run.IsZero() || run.After(step.Until) {
			if step.Last = started; !started {
				step.After = step.Until
			}
			return
		}
		name := JobName(p.cj.Name, run)
		switch {
		case hasRun(step.Except, run), p.hasJob(name):
		case !p.mayBackfill(&step.Backfill, run, name):
			return
		default:
			p.plan.Create = append(p.plan.Create, p.backfill(step.ID, name, run))
			p.backfilled++
			started = true
		}
		if at = run; !started {
			step.After = run
		}
	}
	p.plan.basis.Unfinished = true
}

// mayBackfill reports whether a run may start now, and explains the wait if not.
func (p *Planner) mayBackfill(b *Backfill, run time.Time, name string) bool {
	busy := len(p.plan.basis.Status.Active) + len(p.plan.Create)
	wait := Wait{Reason: WaitBackfill, Name: b.ID, Run: run}
	switch first := p.reserved(); {
	case run.After(p.snap.Now):
		wait.Until = run
	case !first.IsZero() && !run.Before(first): // left to the schedule
	case p.behind && p.backfillLimit(b) > 0:
		p.waitForSnapshot(run, b.ID)
		return false
	case p.held, isAtLimit(p.backfillLimit(b), busy):
		p.plan.basis.Blocked = true
		wait.Jobs = busy
	case p.isForNextRound(name):
		p.plan.basis.Unfinished = true
		return false
	default:
		return true
	}
	p.wait(wait)
	return false
}

// isForNextRound reports whether this round creates enough jobs, or that of the run
// for another backfill.
func (p *Planner) isForNextRound(name string) bool {
	if p.backfilled >= maxBackfill {
		return true
	}
	return slices.ContainsFunc(p.plan.Create, func(c Creation) bool { return c.Name == name })
}

// reserved is the first run that the schedule is going to start by itself; zero
// means none. The run that is due is not, once it is recorded or given up.
func (p *Planner) reserved() time.Time {
	basis := &p.plan.basis
	if p.due.After(basis.Status.LastScheduleTime) && p.due.After(basis.Memory.Since) {
		return p.due
	}
	return p.next
}

// backfillLimit is the number of active jobs from which on a backfill waits; zero
// means no limit.
func (p *Planner) backfillLimit(b *Backfill) int32 {
	switch own, all := b.MaxActive, p.snap.Options.MaxActive; {
	case b.Overlap != Allow:
		return 1
	case own == 0 || all > 0 && all < own:
		return all
	default:
		return own
	}
}

// backfill describes the job of a run that was asked for.
func (p *Planner) backfill(id, name string, run time.Time) Creation {
	if p.limited {
		p.needsList(name)
	}
	c := p.creation(name, run, CreateBackfilled)
	c.Backfill = id
	c.Annotations[InstantiateAnnotation] = backfilled
	return c
}
