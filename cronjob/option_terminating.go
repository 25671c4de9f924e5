package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// isStuck reports whether a job of the CronJob has been terminating for Options.TerminatingTimeout.
// It leaves the active list and holds nothing back any more (C21).
func (f *family) isStuck(c *Child) bool {
	isTerminating := c.isRunning() && c.isDeleted()
	return f.terminating > 0 && isTerminating && !f.now.Before(f.stuckAt(c))
}

// stuckAt returns when a job that is terminating will be stuck.
func (f *family) stuckAt(c *Child) time.Time { return c.DeletionTimestamp.Add(f.terminating) }

// appendTerminating appends a wait for the first job that will be stuck, if it holds something back.
func (c *census) appendTerminating(waits []Wait) []Wait {
	if c.terminating == 0 {
		return waits
	}

	var next Wait
	for i := range c.children {
		child := &c.children[i]
		if !child.isDeleted() || !c.verdicts[i].is(childActiveLeaving|childActiveKept|leaving) {
			continue
		}
		if at := c.stuckAt(child); next.Until.IsZero() || at.Before(next.Until) {
			next = Wait{Reason: cronjobreason.WaitTerminating, Name: child.Name, Until: at}
		}
	}
	if next.Until.IsZero() {
		return waits
	}
	return append(waits, next)
}

// terminating returns the event about a job that leaves the active list because it is stuck.
func terminating(k Kind, name string, timeout time.Duration) job.Event {
	return event(job.EventWarning, "TerminatingJob",
		"Active "+k.String()+" has been terminating for "+timeout.String()+" and does not count any more: "+name)
}
