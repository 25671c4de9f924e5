package cronjob

import (
	"cmp"
	"slices"
	"strings"
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

// findTrigger returns the index of a trigger in a sorted list.
func findTrigger(triggers []Trigger, id string) (int, bool) {
	return slices.BinarySearchFunc(triggers, id, func(t Trigger, id string) int { return cmp.Compare(t.ID, id) })
}

// isTriggered reports whether a job has the name of one of the triggers. The triggers must be
// sorted.
func isTriggered(triggers []Trigger, cronJob, name string) bool {
	if len(triggers) == 0 || !isTriggerName(cronJob, name) {
		return false
	}
	_, found := findTrigger(triggers, name[len(cronJob)+len(manualInfix):])
	return found
}

// isTriggerName reports whether a name belongs to a trigger's job.
func isTriggerName(cronJob, name string) bool {
	return strings.HasPrefix(name, cronJob) && strings.HasPrefix(name[len(cronJob):], manualInfix)
}
