package cronjob

import (
	"slices"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
)

// standing is the decision about the due run.
type standing uint8

const (
	// notDue: no run is due.
	notDue standing = iota
	// isFree: the run starts.
	isFree
	// isStarted: the active list contains the run's job (C10).
	isStarted
	// isFound: the run's job is a child, but lacks the annotation, so recoverStarts has not found
	// it (C14).
	isFound
	// isTaken: another owner's job has the name of the run (C14).
	isTaken
	// isStale: the snapshot is older than the controller's own writes (CI15).
	isStale
	// isForbidden: the policy is Forbid, and a job is active (C11).
	isForbidden
	// isSkipped: like isForbidden, but Options.SkipHeld gives up the run.
	isSkipped
	// isHalted: too many jobs in a row have failed (Options.PauseAfterFailures).
	isHalted
	// isFull: Options.MaxActive jobs are active.
	isFull
	// isUnsettled: the jobs to replace must be recorded first (CI1).
	isUnsettled
	// isReplacing: the jobs to replace must be gone first (Options.ReplaceWhenGone).
	isReplacing
)

// obstacle is the reason why the due run does not start, if there is one.
type obstacle struct {
	standing
	// jobs is the number of jobs that the run waits for.
	jobs int
	// place is the index of the child with the name of the run (isFound).
	place int
}

// holds reports whether the run waits for something and can still start later.
func (o obstacle) holds() bool {
	switch o.standing {
	case isStale, isForbidden, isFull, isReplacing:
		return true
	}
	return false
}

// findObstacle returns the reason why the due run does not start: a job with its name,
// PauseAfterFailures, concurrencyPolicy (forbid.go, replace.go) or MaxActive.
func findObstacle(s *Snapshot, c *census, t *timing) obstacle {
	if t.due.IsZero() {
		return obstacle{}
	}

	name := c.names.of(t.due)
	place := -1
	if !s.Options.Quirks.Has(cronjobquirk.BlindCreate) {
		place = slices.IndexFunc(c.children, func(child Child) bool { return name.is(child.Name) })
	}
	switch {
	case c.isNamedActive(name):
		return obstacle{standing: isStarted}
	case place >= 0:
		if c.children[place].Foreign {
			return obstacle{standing: isTaken}
		}
		return obstacle{standing: isFound, place: place}
	}

	if failures, paused := isPaused(s, c); paused {
		return obstacle{standing: isHalted, jobs: failures}
	}
	switch policy := s.CronJob.Spec.ConcurrencyPolicy; {
	case c.behind && dependsOnActive(s):
		return obstacle{standing: isStale}
	case policy == Forbid:
		return forbids(c, s.Options.SkipHeld)
	case policy == Replace:
		return replaces(c, &s.Options)
	}
	return fills(s.Options.MaxActive, len(c.active))
}

// isNamedActive reports whether the active list contains a job of this name (C10).
func (c *census) isNamedActive(name runName) bool {
	for i := range c.active {
		if name.is(c.active[i].Name) {
			return true
		}
	}
	return false
}

// dependsOnActive reports whether a run of the schedule may have to wait for active jobs.
func dependsOnActive(s *Snapshot) bool {
	switch s.CronJob.Spec.ConcurrencyPolicy {
	case Forbid, Replace:
		return true
	}
	return s.Options.MaxActive > 0
}
