package job

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// carried is the memory of earlier rounds, brought up to date by this one.
type carried struct {
	// Memory is the memory with which the round begins.
	Memory Memory `json:"memory,omitzero"`
	// Satisfied is true when the expectations are satisfied (E1).
	Satisfied bool           `json:"satisfied,omitempty"`
	Backoff   backoff.Record `json:"backoff,omitzero"`
	// Untimed are the failed pods without a known finish time, sorted by UID.
	Untimed []sighting `json:"untimed,omitempty"`
	// Untracking are the finalizer removals of earlier rounds that no snapshot has shown yet.
	Untracking expectations.UIDs `json:"untracking,omitzero"`
	// Handled are the pods of Memory.rest.Handled that still have the finalizer.
	Handled expectations.UIDs `json:"handled,omitzero"`
}

// recall fills memory, which is empty, from the snapshot's memory. The memory of an earlier job of
// this name counts as empty (B5, JI22). A memory without a JobUID was lost. But a tracker may have
// put writes in flight into it, and recall keeps these writes. A consistent snapshot contains all
// own writes, so none is in flight.
func recall(memory *Memory, s *Snapshot) {
	memory.JobUID = s.Job.UID

	switch of := s.Memory.JobUID; {
	case s.Consistent && of == s.Job.UID:
		memory.Backoff, memory.rest = s.Memory.Backoff, s.Memory.rest
		return
	case s.Consistent:
		return
	case of == "":
		memory.Expectations, memory.Untracking = s.Memory.Expectations, s.Memory.Untracking
	case of != s.Job.UID:
		return
	default:
		*memory = s.Memory
		if s.Options.Quirks.Has(jobquirk.UnseenEnd) {
			memory.Finished = false // Kubernetes does not remember it
		}
	}

	if memory.Expectations.At.After(s.Now) {
		// The clock has gone back. The expectations hold the job back for five minutes from now,
		// not until the clock has caught up (L6).
		memory.Expectations.At = s.Now
	}
}

// isSatisfied reports whether no creation or deletion of an earlier round is still to be seen (E1).
func isSatisfied(memory *Memory, now time.Time, quirks jobquirk.Set) bool {
	counts := memory.Expectations
	if quirks.Has(jobquirk.CoarseRequeue) && counts.Expires().Equal(now) {
		return false
	}
	return counts.Satisfied(now)
}

// carryOn keeps the memory unchanged, except for the finalizer removals.
func (c *carried) carryOn(untracking expectations.UIDs) {
	rest := &c.Memory.rest
	c.Backoff, c.Untimed, c.Untracking, c.Handled = c.Memory.Backoff, rest.Untimed, untracking, rest.Handled
}

// carryOver brings the memory up to date with the findings of the round.
func (c *carried) carryOver(record backoff.Record, found *findings) {
	c.carryOn(stillTracked(c.Memory.Untracking, found.known))
	c.Satisfied, c.Backoff = found.satisfied, record
	c.Handled = stillTracked(c.Memory.rest.Handled, found.known)
	if !slices.Equal(found.untimed, c.Untimed) {
		c.Untimed = slices.Clone(found.untimed) // found.untimed is a buffer of the planner
	}
}
