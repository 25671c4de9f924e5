package cronjob

import (
	"cmp"
	"slices"
	"time"

	"github.com/batchplan/batchplan/job"
)

// matchActive compares the active list of the status with the children. Finished jobs
// leave it (C4). Those without a child are to be looked up, and stay until the answer is
// known (C5). It returns the buffer.
func (c *census) matchActive(plan *Plan, buffer []Reference) []Reference {
	refs := plan.basis.Before.Active
	finished := 0
	for i := range refs {
		place := c.placeOf(refs[i].UID)
		if place < 0 {
			plan.Verify = append(plan.Verify, refs[i])
			continue
		}
		c.listed[place] = true
		if child := &c.children[place]; child.isFinished() {
			finished++
			plan.event(job.Normal, "SawCompletedJob", sawCompleted(refs[i].Name)+", condition: "+string(child.Finished))
		}
	}
	c.active = refs
	if finished > 0 {
		buffer = c.appendUnfinished(buffer, refs)
		c.active = buffer
	}
	c.kept = len(c.active)
	return buffer
}

func sawCompleted(name string) string { return "Saw completed job: " + name }

// appendUnfinished appends the references to jobs that are not known to have finished.
func (c *census) appendUnfinished(buffer, refs []Reference) []Reference {
	for i := range refs {
		if place := c.placeOf(refs[i].UID); place < 0 || !c.children[place].isFinished() {
			buffer = append(buffer, refs[i])
		}
	}
	return buffer
}

// lastSuccess returns lastSuccessfulTime, moved forward to the latest completion of a
// job that succeeded, and never back (C4, CI12).
func lastSuccess(children []Child, last time.Time) time.Time {
	for i := range children {
		if c := &children[i]; c.Owner == Owned && c.Finished == job.Complete {
			last = later(last, c.CompletionTime)
		}
	}
	return last
}

// reportUnexpected reports running jobs of the CronJob that it did not record, in the
// order of their names (C3).
func reportUnexpected(plan *Plan, c *census) {
	if !c.unlisted {
		return
	}
	for i := range c.children {
		if child := &c.children[i]; child.Owner == Owned && !child.isFinished() && !c.listed[i] {
			plan.Unexpected = append(plan.Unexpected, c.reference(i))
		}
	}
	refs := plan.Unexpected
	slices.SortFunc(refs, func(a, b Reference) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	for i := range refs {
		plan.event(job.Warning, "UnexpectedJob", "Saw a job that the controller did not create or forgot: "+refs[i].Name)
	}
}
