package cronjob

import (
	"cmp"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
)

// family are the CronJob's jobs as the snapshot shows them, and what tells them apart. A [Child] is
// one job. lookup.go finds jobs in it.
type family struct {
	names     names
	kind      Kind
	namespace string
	children  []Child
	byUID     map[job.UID]int32 // places of owned children, if a search would cost more

	// triggers are in the order of their IDs, each once.
	triggers []Trigger
	// awaited are the runs that are left of the backfills.
	awaited *awaited

	// replacing is true for the policy Replace, where the memory knows what it has deleted; with
	// whenGone, a run waits until the jobs that it replaces are gone. unstored is true for that policy
	// with Options.ActiveFromChildren.
	replacing, whenGone, unstored bool
}

// census is what a round knows of the CronJob's jobs, once the snapshot and the memory are put
// together. takeCensus makes it from what the status says (active_list.go), what the memory adds
// (recall.go) and what the children show (recovery.go). verdict.go says what follows for each child.
// At the end of the round, remember.go makes the next memory.
type census struct {
	family
	recalled

	// marks are what the status and the memory say of each child, and verdicts what follows.
	marks    []mark
	verdicts []verdict

	// active is the active list as the round has brought it up to date. Its first kept entries are
	// from the status; the others were found. found are those that are still to be added.
	active []Reference
	kept   int
	found  []Reference

	// verify are the jobs to look up, and events are about the others.
	verify []Reference
	events []job.Event
	// lastRun is the latest run that is known to have started, and lastSuccess the latest completion
	// of a job that succeeded.
	lastRun, lastSuccess time.Time
}

// takeCensus finds out which jobs there are and which of them are active, and brings the memory up to
// date with the snapshot.
func takeCensus(s *Snapshot, m *memory, b *buffers) *census {
	c := &b.census
	*c = census{
		family:   familyOf(s, m, b),
		marks:    cleared(b.census.marks, len(s.Children)),
		verdicts: cleared(b.census.verdicts, len(s.Children)),
		found:    b.census.found[:0],
		verify:   b.verify[:0],
		events:   b.events[:0],
	}
	c.awaited = awaitedBy(s.Backfills, &c.names)

	// What the status says.
	b.active = c.matchActive(s.CronJob.Status.Active, b.active[:0], s.Consistent)
	c.lastSuccess = lastSuccess(s.Children, s.CronJob.Status.LastSuccessfulTime)

	// What the memory adds.
	m.Recorded, m.Unrecorded = recallUnrecorded(m, s)
	c.lastRun = later(s.CronJob.Status.LastScheduleTime, m.Unrecorded)
	c.recallWrites(s, m)
	c.spared = backfilledUIDs(m.Started)
	if keepsUnrecorded(s.Options.Quirks) && !s.Schedule.Schedule.Never() {
		c.accounted = m.Accounted
	}

	// What the children show.
	c.recoverStarts(s)
	return c
}

// familyOf returns all of a family except awaited, which points to its names.
func familyOf(s *Snapshot, m *memory, b *buffers) family {
	b.triggers = sortTriggers(b.triggers[:0], s.Triggers)
	f := family{
		names:     s.Options.Naming.of(s.CronJob.Name),
		kind:      s.Options.Child.orJob(),
		namespace: s.CronJob.Namespace,
		children:  s.Children,
		byUID:     indexChildren(s, m, b.byUID),
		triggers:  b.triggers,
	}
	if f.byUID != nil {
		b.byUID = f.byUID // its memory is kept
	}

	if s.CronJob.Spec.ConcurrencyPolicy == Replace {
		f.whenGone, f.unstored = s.Options.ReplaceWhenGone, s.Options.ActiveFromChildren
		f.replacing = f.whenGone || !s.Options.Quirks.Has(cronjobquirk.Stale)
	}
	return f
}

// cleared returns a list of so many places, none of them set.
func cleared[T any](buffer []T, n int) []T {
	if cap(buffer) < n {
		return make([]T, n)
	}
	buffer = buffer[:n]
	clear(buffer)
	return buffer
}

// takeIn notes that a running child belongs on the active list, which lacks it. addFound adds it.
func (c *census) takeIn(place int) {
	c.marks[place] |= markNamed
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
		c.verdicts[o.place] = c.judge(o.place)
		c.addFound()
	}
}

// reference returns the name of a child in the active list.
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
func (f *family) isBackfilled(child *Child) bool {
	return child.Backfilled && f.names.of(child.ScheduledTime).is(child.Name)
}

// runOf returns the run of an active job, from its child or else from its name. It is
// zero for a job that was started by hand.
func (f *family) runOf(r Reference) time.Time {
	if place := f.placeOf(r.UID); place >= 0 {
		return f.children[place].ScheduledTime
	}
	return f.names.runNamed(r.Name)
}

// isAwaited reports whether a trigger or a backfill of the snapshot still needs a job as
// the trace of its run.
func (f *family) isAwaited(name string, run time.Time) bool {
	return isTriggered(f.triggers, f.names.cronJob, name) || f.awaited.has(run) && f.names.of(run).is(name)
}

// sortReferences sorts the runs of a CronJob by their times: names whose numbers differ
// in length differ in length.
func sortReferences(refs []Reference) {
	slices.SortFunc(refs, func(a, b Reference) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
}
