package cronjob

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
)

// Trigger requests a job outside of the schedule. The job starts even if the CronJob is suspended,
// and does not change lastScheduleTime.
type Trigger struct {
	// ID identifies the trigger and is part of the job's name, so that a trigger never starts
	// twice. Keep the trigger in the snapshot until Conclusion.Triggered has its ID.
	ID string `json:"id"`
	// Overlap is Allow when empty; Forbid waits until no job is active. In both cases the trigger
	// also waits while Options.MaxActive jobs are active. With Options.ReplaceWhenGone, it also
	// waits until a run that is replacing jobs has started, because that run would replace the
	// trigger's job as well.
	Overlap ConcurrencyPolicy `json:"overlap,omitempty"`
}

// manualInfix separates the name of the CronJob, with its prefix, from the ID in the name of a
// trigger's job.
const manualInfix = "-manual-"

func (t *Trigger) check() error {
	switch {
	case t.ID == "":
		return invalid("triggers.id", t.ID, "is required")
	case !t.Overlap.isOverlap():
		return invalid("triggers["+t.ID+"].overlap", string(t.Overlap), "must be Allow or Forbid")
	}
	return nil
}

// isOverlap reports whether a trigger or a backfill may have the policy.
func (p ConcurrencyPolicy) isOverlap() bool {
	switch p {
	case "", Allow, Forbid:
		return true
	}
	return false
}

// sortTriggers appends the triggers to the buffer, sorted by ID and without duplicates.
func sortTriggers(buffer, triggers []Trigger) []Trigger {
	sorted := append(buffer, triggers...)
	slices.SortFunc(sorted, func(a, b Trigger) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Overlap, b.Overlap))
	})
	return slices.CompactFunc(sorted, func(a, b Trigger) bool { return a.ID == b.ID })
}

// isTriggered reports whether a job has the name of one of the snapshot's triggers.
func (f *family) isTriggered(name string) bool {
	id, isTrigger := f.names.triggerNamed(name)
	if !isTrigger || len(f.triggers) == 0 {
		return false
	}
	byID := func(t Trigger, id string) int { return cmp.Compare(t.ID, id) }
	_, found := slices.BinarySearchFunc(f.triggers, id, byID)
	return found
}

// triggerNamed returns the ID of the trigger whose job has a name, and false if the name does not
// belong to a trigger's job.
func (n *names) triggerNamed(name string) (id string, ok bool) {
	rest, isOwn := strings.CutPrefix(name, n.cronJob)
	id, ok = strings.CutPrefix(rest, manualInfix)
	return id, ok && isOwn
}

// startTriggers starts the triggers' jobs, in the order of their IDs, unless the due run's obstacle
// holds them back as well. Argument created is the number of the round's other creations.
func startTriggers(s *Snapshot, c *census, o obstacle, created int) (all moves) {
	if s.CronJob.isDeleted() {
		return moves{}
	}

	hasJob, running := c.jobNamed(len(c.triggers)), c.countBusy()+created
	for i := range c.triggers {
		t := &c.triggers[i]
		busy, limit := running+len(all.create), limitOf(t.Overlap, s.Options.MaxActive)
		switch name := c.names.cronJob + manualInfix + t.ID; {
		case hasJob(name):
			all.triggered = append(all.triggered, t.ID)
		case c.behind && limit > 0:
			all.add(c.waitForSnapshot(time.Time{}, t.ID))
		case o.standing == isReplacing:
			all.waits = append(all.waits, Wait{Reason: cronjobreason.WaitTrigger, Name: t.ID, Jobs: o.jobs})
		case isAtLimit(limit, busy):
			all.Blocked = true
			all.waits = append(all.waits, Wait{Reason: cronjobreason.WaitTrigger, Name: t.ID, Jobs: busy})
		default:
			all.start(triggered(s, t.ID, name), limit > 0)
		}
	}
	return all
}
