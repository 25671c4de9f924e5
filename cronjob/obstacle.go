package cronjob

import (
	"slices"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
)

// findObstacle finds what keeps the run that is due from starting: a job that has its name,
// PauseAfterFailures, concurrencyPolicy (forbid.go, replace.go) and MaxActive.
func findObstacle(s *Snapshot, c *census, t *timing) obstacle {
	if t.due.IsZero() {
		return obstacle{}
	}

	name := c.names.of(t.due)
	place := -1
	if !s.Options.Quirks.Has(cronjobquirk.BlindCreate) {
		place = slices.IndexFunc(c.children, func(child Child) bool { return name.is(child.Name) })
	}
	policy := s.CronJob.Spec.ConcurrencyPolicy
	switch {
	case c.isNamedActive(name):
		return obstacle{standing: isStarted}
	case place >= 0 && c.children[place].Foreign:
		return obstacle{standing: isTaken}
	case place >= 0:
		return obstacle{standing: isFound, place: place}
	}

	if failures, paused := isPaused(s, c); paused {
		return obstacle{standing: isHalted, jobs: failures}
	}
	switch {
	case c.behind && dependsOnActive(s):
		return obstacle{standing: isStale}
	case policy == Forbid:
		return forbids(c, &s.Options)
	case policy == Replace:
		return replaces(c, &s.Options)
	}
	return fills(s.Options.MaxActive, len(c.active))
}

// dependsOnActive reports whether the active jobs decide about a run of the schedule.
func dependsOnActive(s *Snapshot) bool {
	policy := s.CronJob.Spec.ConcurrencyPolicy
	return policy == Forbid || policy == Replace || s.Options.MaxActive > 0
}
