package cronjob

import (
	"cmp"
	"slices"
	"strings"
)

// Trigger asks for a job outside of the schedule. It starts whether or not the
// CronJob is suspended, and does not touch lastScheduleTime.
type Trigger struct {
	// ID tells triggers apart and is part of the job's name, so that a trigger never
	// starts twice. Keep the trigger in the snapshot until [Conclusion.Triggered]
	// names it.
	ID string `json:"id"`
	// Overlap is Allow when empty; Forbid waits until no job is active. With either
	// the trigger waits while Options.MaxActive jobs are active, and while a run waits for the
	// jobs that it replaces to be gone: it would replace the trigger's job as well.
	Overlap ConcurrencyPolicy `json:"overlap,omitempty"`
}

// JobName is the name of the trigger's job.
func (t Trigger) JobName(cronJob string) string { return cronJob + manualInfix + t.ID }

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

// isOverlap reports whether a trigger or a backfill may ask for the policy.
func (p ConcurrencyPolicy) isOverlap() bool {
	switch p {
	case "", Allow, Forbid:
		return true
	}
	return false
}

// sortTriggers appends the triggers in the order of their IDs, each once.
func sortTriggers(buffer, triggers []Trigger) []Trigger {
	sorted := append(buffer, triggers...)
	slices.SortFunc(sorted, func(a, b Trigger) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Overlap, b.Overlap))
	})
	return slices.CompactFunc(sorted, func(a, b Trigger) bool { return a.ID == b.ID })
}

// findTrigger returns the place of a trigger among sorted ones.
func findTrigger(triggers []Trigger, id string) (int, bool) {
	return slices.BinarySearchFunc(triggers, id, func(t Trigger, id string) int { return cmp.Compare(t.ID, id) })
}

// isTriggered reports whether a job has the name of one of these triggers, which are
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
