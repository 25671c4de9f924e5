package job

import (
	"time"

	"github.com/batchplan/batchplan/job/jobquirk"
)

// recall fills an empty memory with what the round knows from earlier ones. A memory of
// an earlier job of this name counts as empty (B5, JI22). A snapshot that contains all own
// writes leaves none to be waited for.
func recall(memory *Memory, s *Snapshot) {
	memory.JobUID = s.Job.UID
	if s.Memory.JobUID != s.Job.UID {
		return
	}
	if s.Consistent {
		memory.Backoff, memory.rest = s.Memory.Backoff, s.Memory.rest
		return
	}
	*memory = s.Memory
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
