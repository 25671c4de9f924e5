package cronjob

import (
	"cmp"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
)

// family holds the CronJob's jobs as the snapshot shows them, with the names, triggers and
// backfills that identify them. A [Child] is one job. lookup.go finds jobs in it.
type family struct {
	names     names
	kind      Kind
	namespace string
	children  []Child
	byUID     map[job.UID]int32 // indexes of owned children; nil if linear searches are cheaper

	// timeout is Options.TerminatingTimeout, and now the time of the round.
	timeout time.Duration
	now     time.Time

	// triggers are sorted by ID, without duplicates.
	triggers []Trigger
	// awaited holds the runs that backfills have not settled.
	awaited *awaited

	// replacing is true for policy Replace if the memory remembers deleted jobs. whenGone is true
	// if also Options.ReplaceWhenGone is set: a run waits until the jobs that it replaces are gone.
	// unstored is true for policy Replace with Options.ActiveFromChildren.
	replacing, whenGone, unstored bool
}

// census is all that a round knows about the CronJob's jobs. takeCensus combines the status
// (active_list.go), the memory (recall.go) and the children (recovery.go). verdict.go judges each
// child. At the end of the round, remember.go makes the next memory.
type census struct {
	family
	recalled

	// marks hold facts about each child from the status and the memory. verdicts hold the judgement
	// of each child.
	marks    []mark
	verdicts []verdict

	// active is the updated active list. The first entries are from the status, and kept is their
	// number; the round has added the others. found holds jobs that are still to be added.
	active []Reference
	kept   int
	found  []Reference

	// verify holds the listed jobs to look up. events holds the reports about other listed jobs.
	verify []Reference
	events []job.Event
	// lastRun is the latest run known to have started, and lastSuccess the latest completion time.
	lastRun, lastSuccess time.Time
}

// takeCensus determines which jobs exist and which are active, and updates the memory.
func takeCensus(s *Snapshot, f *family, m *memory, b *buffers) *census {
	c := &b.census
	*c = census{
		family:   *f,
		marks:    append(b.census.marks[:0], make([]mark, len(s.Children))...),
		verdicts: append(b.census.verdicts[:0], make([]verdict, len(s.Children))...),
		found:    b.census.found[:0],
		verify:   b.verify[:0],
		events:   b.events[:0],
	}
	b.triggers = sortTriggers(b.triggers[:0], s.Triggers)
	c.triggers, c.awaited = b.triggers, awaitedBy(s.Backfills, &c.names) // keeps the address of names
	if c.byUID = indexChildren(s, m, b.byUID); c.byUID != nil {
		b.byUID = c.byUID // to be reused
	}

	// Start with the status.
	b.active = c.matchActive(s.CronJob.Status.Active, b.active[:0], s.Consistent)
	c.lastSuccess = lastSuccess(s.Children, s.CronJob.Status.LastSuccessfulTime)

	// Add the memory.
	m.Recorded, m.Unrecorded = recallUnrecorded(m, s)
	c.lastRun = later(s.CronJob.Status.LastScheduleTime, m.Unrecorded)
	c.recallWrites(s, m)
	c.spared = backfilledUIDs(m.Started)
	if keepsUnrecorded(s.Options.Quirks) && !s.Schedule.Schedule.Never() {
		c.accounted = m.Accounted
	}

	// Add the children.
	c.recoverStarts(s)
	return c
}

// familyOf returns the CronJob's jobs as a family. takeCensus adds byUID, triggers and awaited:
// before that, no job is triggered, requested or awaited.
func familyOf(s *Snapshot) family {
	f := family{
		names:     s.Options.Naming.of(s.CronJob.Name),
		kind:      s.Options.ChildKind.orJob(),
		namespace: s.CronJob.Namespace,
		children:  s.Children,
		timeout:   s.Options.TerminatingTimeout,
		now:       s.Now,
	}
	if s.CronJob.Spec.ConcurrencyPolicy == Replace {
		f.whenGone, f.unstored = s.Options.ReplaceWhenGone, s.Options.ActiveFromChildren
		f.replacing = f.whenGone || !s.Options.Quirks.Has(cronjobquirk.Stale)
	}
	return f
}

// takeIn notes that a running child is missing from the active list; addFound adds it.
func (c *census) takeIn(place int) {
	c.marks[place] |= markNamed
	c.found = append(c.found, c.reference(place))
}

// addFound adds the noted jobs to the active list. It sorts them, so that the order of the children
// does not matter (B3).
func (c *census) addFound() {
	if len(c.found) > 0 {
		sortReferences(c.found)
		c.active = append(slices.Clip(c.active), c.found...)
		c.found = c.found[:0]
	}
}

// admit adds the due run's job to the active list if findObstacle has found that the job runs.
func (c *census) admit(o obstacle) {
	if o.standing != isFound {
		return
	}
	if child := &c.children[o.place]; !child.isFinished() && !c.isStuck(child) {
		c.takeIn(o.place)
		c.verdicts[o.place] = c.judge(o.place)
		c.addFound()
	}
}

// reference returns the entry of a child in the active list.
func (f *family) reference(place int) Reference {
	child := &f.children[place]
	return Reference{
		Kind:       f.kind.Kind,
		APIVersion: f.kind.APIVersion,
		Namespace:  f.namespace,
		Name:       child.Name,
		UID:        child.UID,
	}
}

// isBackfilled reports whether a child is the job of a backfill, according to its mark and its
// name. Such a job does not show which runs of the schedule have started.
func (f *family) isBackfilled(child *Child) bool {
	return child.Backfilled && f.names.of(child.ScheduledTime).is(child.Name)
}

// runOf returns the run of an active job, from its child or else from its name. It returns zero for
// a job that was started by hand.
func (f *family) runOf(r Reference) time.Time {
	if place := f.placeOf(r.UID); place >= 0 {
		return f.children[place].ScheduledTime
	}
	return f.names.runNamed(r.Name)
}

// isAwaited reports whether only the job shows that a trigger, or a run of a backfill, has started.
func (f *family) isAwaited(name string, run time.Time) bool {
	return f.isTriggered(name) || f.awaited.has(run) && f.names.of(run).is(name)
}

// sortReferences sorts the jobs of a CronJob by name, shorter names first. This is the order of
// their runs, because a shorter name ends in a smaller number.
func sortReferences(refs []Reference) {
	slices.SortFunc(refs, func(a, b Reference) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
}
