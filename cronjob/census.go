package cronjob

import (
	"cmp"
	"slices"
	"time"

	"github.com/batchplan/batchplan/job"
)

// census is what a round knows of the CronJob's jobs, once the snapshot and the memory
// are put together. A [Child] is one job of the snapshot. take_census.go makes the census, from the
// active list of the status (active_list.go), the memory (recall.go) and the traces of a crash
// (recovery.go); lookup.go finds jobs in it. At the end of the round, remember.go makes the next
// memory.
type census struct {
	names     names
	kind      Kind
	namespace string
	children  []Child
	byUID     map[job.UID]int32 // places of owned children, if a search would cost more

	// verify are the jobs that are to be looked up, and events what is said of the others.
	verify []Reference
	events []job.Event
	// lastRun is the latest run that is known to have started, and lastSuccess the latest
	// completion of a job that succeeded.
	lastRun, lastSuccess time.Time

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
	spared map[job.UID]bool
	// leaving are, by place, the children that were deleted and do not show it yet;
	// deleted are the UIDs of deleted jobs that are not among the children.
	leaving map[int]leavingJob
	deleted map[job.UID]bool
	// doubtful are active jobs that the children show and that were perhaps deleted.
	doubtful []Reference
	// replacing is true for the policy Replace, where the memory knows what it has deleted; with
	// whenGone, a run waits until the jobs that it replaces are gone. unstored is true for that policy
	// with Options.ActiveFromChildren.
	replacing, whenGone, unstored bool
	// unseen is the number of jobs that are to be looked up.
	unseen int
	// taken are the runs that were perhaps started, and whose names belong to other owners.
	taken []time.Time
	// consistent is Snapshot.Consistent. behind is true when the snapshot is older than the
	// controller's own writes (CI15).
	consistent, behind bool
	// accounted is the last run that the snapshot's memory accounts for; zero means that it
	// does not say.
	accounted time.Time
	// ended are the places of jobs that have ended before the snapshot shows the status that
	// names them.
	ended []int
	// unshown is true if a status names a job that neither the snapshot's status nor the children
	// show: it may be gone, and then only a round that sees that status takes it out.
	unshown bool
	// foreign are the UIDs of the children that the CronJob does not control, once isGone
	// has needed them.
	foreign map[job.UID]bool

	// triggers are in the order of their IDs, each once.
	triggers []Trigger
	// awaited are the runs that are left of the backfills.
	awaited *awaited
}

// takeIn finds a running child for the active list.
func (c *census) takeIn(place int) {
	c.listed[place] = true
	c.found = append(c.found, c.reference(place))
}

// addFound adds the jobs that were found to the active list, sorted, so that the order of
// the children does not matter (B3).
func (c *census) addFound() {
	if len(c.found) > 0 {
		sortReferences(c.found)
		c.active = append(slices.Clip(c.active), c.found...)
		c.found = c.found[:0]
	}
}

// admit takes the job into the active list that was found for the run that is due.
func (c *census) admit(o obstacle) {
	if o.standing == isFound && !c.children[o.place].isFinished() {
		c.takeIn(o.place)
		c.addFound()
	}
}

// reference returns the name of a child in the active list.
func (c *census) reference(place int) Reference {
	child := &c.children[place]
	return Reference{
		Kind:       c.kind.Kind,
		APIVersion: c.kind.APIVersion,
		Namespace:  c.namespace,
		Name:       child.Name,
		UID:        child.UID,
	}
}

// isNamedActive reports whether the active list names a job of this name (C10).
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
	return child.Backfilled && c.names.of(child.ScheduledTime).is(child.Name)
}

// runOf returns the run of an active job, from its child or else from its name. It is
// zero for a job that was started by hand.
func (c *census) runOf(r Reference) time.Time {
	if place := c.placeOf(r.UID); place >= 0 {
		return c.children[place].ScheduledTime
	}
	return c.names.runNamed(r.Name)
}

// isAwaited reports whether a trigger or a backfill of the snapshot still needs a job as
// the trace of its run.
func (c *census) isAwaited(name string, run time.Time) bool {
	return isTriggered(c.triggers, c.names.cronJob, name) || c.awaited.has(run) && c.names.of(run).is(name)
}

// sortReferences sorts the runs of a CronJob by their times: names whose numbers differ
// in length differ in length.
func sortReferences(refs []Reference) {
	slices.SortFunc(refs, func(a, b Reference) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
}
