package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
)

// startTriggers starts the triggers' jobs, in the order of their IDs, unless the due run's obstacle
// holds them back as well. Argument created is the number of the round's other creations.
func startTriggers(s *Snapshot, c *census, o obstacle, created int) (all moves) {
	if s.CronJob.isDeleted() || len(c.triggers) == 0 {
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
			all = all.and(c.waitForSnapshot(time.Time{}, t.ID))
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

// triggered returns the creation of a trigger's job.
func triggered(s *Snapshot, id, name string) Creation {
	c := creation(s, name, cronjobreason.CreateTriggered)
	c.Trigger = id
	c.Annotations[s.Options.Marks.requestKey()] = "manual"
	return c
}
