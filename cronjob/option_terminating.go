package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// isStuck reports whether a job of the CronJob has been terminating for Options.TerminatingTimeout.
// Such a job leaves the active list and holds nothing back any more (C21).
func (f *family) isStuck(c *Child) bool {
	isTerminating := c.isRunning() && c.isDeleted()
	return f.timeout > 0 && isTerminating && !f.now.Before(f.stuckAt(c))
}

// stuckAt returns when a job that is terminating will be stuck.
func (f *family) stuckAt(c *Child) time.Time { return c.DeletionTimestamp.Add(f.timeout) }

// appendTerminating appends a wait for the first job that will be stuck. It considers the jobs in
// the active list, and jobs that left the list and may still hold something back. If several become
// stuck at the same time, the wait is for the first in the order of names.
func (c *census) appendTerminating(waits []Wait) []Wait {
	if c.timeout == 0 {
		return waits
	}

	counts := childActiveLeaving | childActiveKept
	if c.whenGone {
		counts |= leaving
	}
	var next Wait
	for i := range c.children {
		child := &c.children[i]
		if !child.isDeleted() || !c.verdicts[i].is(counts) {
			continue
		}

		at := c.stuckAt(child)
		isFirst := next.Until.IsZero() || at.Before(next.Until)
		if isFirst || at.Equal(next.Until) && child.Name < next.Name {
			next = Wait{Reason: cronjobreason.WaitTerminating, Name: child.Name, Until: at}
		}
	}
	if next.Until.IsZero() {
		return waits
	}
	return append(waits, next)
}

// sayStuck returns the event about a job that leaves the active list because it is stuck.
func sayStuck(k Kind, name string, timeout time.Duration) job.Event {
	return event(job.EventWarning, "TerminatingJob", "Active "+k.String()+" has been terminating for at least "+
		timeout.String()+" and does not count any more: "+name)
}
