package job

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// carried is what a round carries over from earlier ones, brought up to date.
type carried struct {
	// Memory is what the earlier rounds have left.
	Memory Memory `json:"memory,omitzero"`
	// Satisfied is true when the round need not wait for own writes to be seen.
	Satisfied bool           `json:"satisfied,omitempty"`
	Backoff   backoff.Record `json:"backoff,omitzero"`
	// Untimed are the failed pods whose finish time nothing tells, by UID.
	Untimed []sighting `json:"untimed,omitempty"`
	// Untracking are the finalizer removals of earlier rounds still not seen.
	Untracking expectations.UIDs `json:"untracking,omitzero"`
	// Handled are the pods of Memory.rest.Handled that still have the finalizer.
	Handled expectations.UIDs `json:"handled,omitzero"`
}

// recall fills an empty memory with what the round knows from earlier ones. A memory of an
// earlier job of this name counts as empty (B5, JI22). One without a job is the memory that was lost,
// with what a tracker knows of writes in flight: that is kept. A snapshot that contains all own
// writes leaves none to be waited for.
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
			memory.Finished = false // the reference does not remember it
		}
	}

	if memory.Expectations.At.After(s.Now) {
		// The clock has gone back. The record holds the job for five minutes from
		// now, not until the clock has caught up, and not in turns (L6).
		memory.Expectations.At = s.Now
	}
}

// isSatisfied reports whether the round need not wait for own writes to be seen (E1).
func isSatisfied(memory *Memory, now time.Time, quirks jobquirk.Set) bool {
	counts := memory.Expectations
	if quirks.Has(jobquirk.CoarseRequeue) && counts.Expires().Equal(now) {
		return false
	}
	return counts.Satisfied(now)
}

// carryOn carries the memory over as it is, in a round that does not plan the job.
func (c *carried) carryOn(untracking expectations.UIDs) {
	rest := &c.Memory.rest
	c.Backoff, c.Untimed, c.Untracking, c.Handled = c.Memory.Backoff, rest.Untimed, untracking, rest.Handled
}

// carryOver brings the memory up to date with what the round has found.
func (c *carried) carryOver(record backoff.Record, found *findings) {
	c.carryOn(stillTracked(c.Memory.Untracking, found.known))
	c.Satisfied, c.Backoff = found.satisfied, record
	c.Handled = stillTracked(c.Memory.rest.Handled, found.known)
	if !slices.Equal(found.untimed, c.Untimed) {
		c.Untimed = slices.Clone(found.untimed) // the list found is a planner's buffer
	}
}
