package cronjob

import "github.com/batchplan/batchplan/cronjob/cronjobquirk"

// takeCensus finds out which jobs there are and which of them are active, and brings the memory up
// to date with the snapshot.
func takeCensus(s *Snapshot, m *memory, b *buffers) *census {
	b.triggers = sortTriggers(b.triggers[:0], s.Triggers)
	b.listed = cleared(b.listed, len(s.Children))
	b.byUID = indexChildren(s, m, b.byUID)
	c := &b.census
	*c = census{}
	c.names, c.kind = s.Options.Naming.of(s.CronJob.Name), s.Options.Child.orJob()
	c.namespace, c.children = s.CronJob.Namespace, s.Children
	c.listed, c.found, c.triggers = b.listed, b.found[:0], b.triggers
	c.verify, c.events = b.verify[:0], b.events[:0]
	c.consistent, c.awaited = s.Consistent, awaitedBy(s.Backfills, &c.names)
	if s.CronJob.Spec.ConcurrencyPolicy == Replace {
		c.whenGone, c.unstored = s.Options.ReplaceWhenGone, s.Options.ActiveFromChildren
		c.replacing = c.whenGone || !s.Options.Quirks.Has(cronjobquirk.Stale)
	}
	if needsIndex(s, m) {
		c.byUID = b.byUID
	}
	b.active = c.matchActive(s.CronJob.Status.Active, b.active[:0])
	c.lastSuccess = lastSuccess(s.Children, s.CronJob.Status.LastSuccessfulTime)
	m.Recorded, m.Unrecorded = recallUnrecorded(m, s)
	c.lastRun = later(s.CronJob.Status.LastScheduleTime, m.Unrecorded)
	m.Started, m.Replaced, m.Behind = c.recallWrites(s, m)
	m.Deleted = c.recallDeleted(s, m.Deleted)
	if keepsUnrecorded(s.Options.Quirks) && !s.Schedule.Schedule.Never() {
		c.accounted = m.Accounted
	}
	c.recoverStarts(s)
	c.spared, c.unseen = backfilledUIDs(m.Started), len(c.verify)
	b.found = c.found
	return c
}

// cleared returns a list of so many places, none of them set.
func cleared(buffer []bool, n int) []bool {
	if cap(buffer) < n {
		return make([]bool, n)
	}
	buffer = buffer[:n]
	clear(buffer)
	return buffer
}
