package cronjobtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/jobrules"
)

// Requester is a Store that keeps triggers and backfills. A program on such a store puts
// them into its snapshots and stores their progress from the [cronjob.Conclusion], by a write
// that goes through [Env.Write]. [Loop] does all of that.
type Requester interface {
	// AddTrigger stores a trigger.
	AddTrigger(t cronjob.Trigger) error
	// AddBackfill stores a backfill.
	AddBackfill(b cronjob.Backfill) error
	// Triggers reads the triggers that are not complete.
	Triggers() ([]cronjob.Trigger, error)
	// Backfills reads the backfills that are not complete, with their progress.
	Backfills() ([]cronjob.Backfill, error)
	// StoreProgress removes the triggers with these IDs, stores each backfill in place of the
	// one with its ID, and removes those that are complete.
	StoreProgress(triggered []string, backfills []cronjob.Backfill) error
}

func (e *Env) readRequests() {
	r, ok := e.subject.Store.(Requester)
	if !ok {
		return
	}
	var err error
	e.triggers, err = r.Triggers()
	e.life.Must("read the triggers", err)
	e.backfills, err = r.Backfills()
	e.life.Must("read the backfills", err)
}

// request lets a user request a trigger or a backfill.
func (e *Env) request() bool {
	r := e.subject.Store.(Requester)
	e.life.Abandons() // Kubernetes has no requests
	e.requests++
	if e.life.Pick("request", 2) == 0 {
		overlaps := []cronjob.ConcurrencyPolicy{"", cronjob.Forbid}
		t := cronjob.Trigger{ID: fmt.Sprint(e.requests), Overlap: overlaps[e.life.Pick("overlap", 2)]}
		e.life.Tell("%sa user asks for a job now: trigger %s%s", e.life.Meanwhile, t.ID, overlapText(t.Overlap))
		e.life.Must("add a trigger", r.AddTrigger(t))
		e.requested = append(e.requested, t)
		e.read()
		return true
	}

	after := e.life.Now().Add(-time.Duration(e.life.Pick("hours back", 30)*7) * time.Hour)
	runs := slices.Collect(e.compiled().Schedule.NextN(after, 1+e.life.Pick("runs", 8)))
	if len(runs) == 0 {
		return false
	}
	overlaps := []cronjob.ConcurrencyPolicy{cronjob.Forbid, cronjob.Allow}
	b := cronjob.Backfill{
		ID:        fmt.Sprint(e.requests),
		After:     after,
		Until:     runs[len(runs)-1],
		Overlap:   overlaps[e.life.Pick("overlap", 2)],
		MaxActive: int32(e.life.Pick("most active", 3)),
	}

	// Leave out the runs whose jobs are gone, or will be soon: the backfill would repeat them.
	for _, run := range e.history.Runs() {
		c := e.truth.Child(e.options.Naming.JobName(e.truth.Object.Name, run))
		if c == nil || !c.DeletionTimestamp.IsZero() {
			b.Except = append(b.Except, run)
		}
	}
	e.life.Tell("%sa user asks for the runs from %s to %s: backfill %s%s",
		e.life.Meanwhile, clock(b.After), clock(b.Until), b.ID, overlapText(b.Overlap))
	e.life.Must("add a backfill", r.AddBackfill(b))
	e.read()
	return true
}

// isAwaited reports whether the run is in the range of a backfill that has not settled it.
func (e *Env) isAwaited(run time.Time) bool {
	return slices.ContainsFunc(e.backfills, func(b cronjob.Backfill) bool {
		return run.After(b.After) && !run.After(b.Until) && !slices.ContainsFunc(b.Except, run.Equal)
	})
}

// checkRequests checks at the end that each trigger has got its job, and that no backfill waits
// for a run that is due.
func (e *Env) checkRequests() {
	for _, t := range e.triggers {
		e.life.Breaks("CL4", "trigger %s is not complete, and nothing holds it back", t.ID)
	}

	for _, b := range e.backfills {
		due := e.life.Now().Add(-e.options.Jitter)
		if e.mayPause() {
			continue // a due run of the schedule may be held back, and has priority (C19)
		}
		run := e.compiled().Schedule.Next(b.After)
		isDue := !run.IsZero() && !run.After(due)
		if isDue && !run.After(b.Until) {
			e.life.Breaks("CL4", "backfill %s is not complete, its run of %s is due, and nothing holds it back",
				b.ID, clock(run))
		}
	}

	for _, t := range e.requested {
		name := e.options.Naming.TriggerName(e.truth.Object.Name, t)
		if c := e.truth.Child(name); c != nil && c.Foreign {
			continue // another owner has taken the name since
		}
		if !e.history.HasStartedBeside(name) {
			e.life.Breaks("CL4", "trigger %s is complete, and %s was never created", t.ID, name)
		}
	}
}

// mayPause reports whether enough jobs have failed for Options.PauseAfterFailures, in a row or not
// (C19).
func (e *Env) mayPause() bool {
	failed := e.truth.Those(func(c *cronjob.Child) bool {
		return !c.Foreign && jobrules.KeptAs(c.Finished, c.KeptAs) == cronjob.Failed
	})
	limit := int(e.options.PauseAfterFailures)
	return limit > 0 && len(failed) >= limit
}
