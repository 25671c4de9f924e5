package cronjob

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
)

// census is what a round knows of the CronJob's jobs, once the snapshot and the memory
// are put together.
type census struct {
	cronJob, namespace string
	children           []Child
	byUID              map[job.UID]int32 // places of owned children, if a search would cost more

	// active is the active list as the round has brought it up to date. Its first kept
	// entries are from the status; the others were found.
	active []Reference
	kept   int
	// listed says, by place, which children the active list names.
	listed []bool
	// unlisted is true if it does not name all running children.
	unlisted bool
	// found are running jobs that the active list has yet to take in.
	found []Reference

	// spared are the UIDs of jobs of backfills that the children may not show yet.
	spared []job.UID
	// leaving are the places of children that were deleted and do not show it yet.
	leaving map[int]bool
	// unseen is the number of jobs that are to be looked up.
	unseen int
	// consistent is Snapshot.Consistent. behind is true when the snapshot is older than the
	// controller's own writes (CI15).
	consistent, behind bool
	// foreign are the UIDs of the children that the CronJob does not control, once isGone
	// has needed them.
	foreign map[job.UID]bool

	// triggers are in the order of their IDs, each once.
	triggers  []Trigger
	backfills []Backfill
}

// takeCensus finds out which jobs there are and which of them are active, and brings
// the status and the memory of the plan up to date with it.
func (p *Planner) takeCensus(s *Snapshot, plan *Plan) (c census) {
	p.triggers = sortTriggers(p.triggers[:0], s.Triggers)
	p.listed = slices.Grow(p.listed[:0], len(s.Children))[:len(s.Children)]
	clear(p.listed)
	c.cronJob, c.namespace = s.CronJob.Name, s.CronJob.Namespace
	c.children, c.byUID = s.Children, p.indexChildren(s, &plan.basis.Memory)
	c.listed, c.found = p.listed, p.found[:0]
	c.triggers, c.backfills = p.triggers, s.Backfills
	c.consistent = s.Consistent

	p.active = c.matchActive(plan, p.active[:0])
	plan.basis.Status.LastSuccessfulTime = lastSuccess(s.Children, s.CronJob.Status.LastSuccessfulTime)
	recallUnrecorded(&plan.basis)
	c.recallWrites(s, plan)
	c.recoverStarts(s, plan)
	c.spared, c.unseen = backfilledUIDs(plan.basis.Memory.Started), len(plan.Verify)
	p.found = c.found
	return c
}

// takeIn finds a running child for the active list.
func (c *census) takeIn(place int) {
	c.listed[place] = true
	c.found = append(c.found, c.reference(place))
}

// addFound adds the jobs that were found to the active list, sorted, so that the order of
// the children does not matter (B3).
func (c *census) addFound(plan *Plan) {
	if len(c.found) > 0 {
		sortReferences(c.found)
		c.active = append(slices.Clip(c.active), c.found...)
		c.found = c.found[:0]
	}
	plan.basis.Status.Active, plan.basis.Found = c.active, len(c.active)-c.kept
}

// reference returns the name of a child in the active list.
func (c *census) reference(place int) Reference {
	child := &c.children[place]
	return Reference{
		Kind:       "Job",
		APIVersion: "batch/v1",
		Namespace:  c.namespace,
		Name:       child.Name,
		UID:        child.UID,
	}
}

// isNamedActive reports whether the active list names a job of this name.
func (c *census) isNamedActive(name runName) bool {
	for i := range c.active {
		if name.is(c.active[i].Name) {
			return true
		}
	}
	return false
}

// isBackfilled reports whether a child is the job of a backfill, by its mark and its
// name. Such a job says nothing about the schedule (lastScheduleTime).
func (c *census) isBackfilled(child *Child) bool {
	return child.Backfilled && nameOfRun(c.cronJob, child.ScheduledTime).is(child.Name)
}

// runOf returns the run of an active job, from its child or else from its name. It is
// zero for a job that was started by hand.
func (c *census) runOf(r Reference) time.Time {
	if place := c.placeOf(r.UID); place >= 0 {
		return c.children[place].ScheduledTime
	}
	number, _ := strings.CutPrefix(r.Name, c.cronJob+"-")
	minute, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(minute*60, 0).UTC()
}

// isAwaited reports whether a trigger or a backfill of the snapshot still needs a job as
// the trace of its run.
func (c *census) isAwaited(name string, run time.Time) bool {
	return isTriggered(c.triggers, c.cronJob, name) || slices.ContainsFunc(c.backfills, func(b Backfill) bool {
		return b.has(run) && nameOfRun(c.cronJob, run).is(name)
	})
}
