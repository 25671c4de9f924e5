package cronjob

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// Own writes may be missing from a snapshot: caches show the CronJob and its jobs
// late, and each by itself. What depends on the active list must not be decided
// without them (CI15). The memory therefore holds the jobs that were started until a
// status names them and the children show them, and a snapshot whose status is older
// than the last write holds such decisions back.

// recalled is what the memory adds to the snapshot.
type recalled struct {
	// behind is true when the snapshot is older than the controller's own writes (CI15).
	behind bool
	// accounted is the last run that the snapshot's memory accounts for; zero means that it does not say.
	accounted time.Time
	// spared are the UIDs of jobs of backfills that the children may not show yet.
	spared map[job.UID]bool
	// deleted are the UIDs of deleted jobs that are not among the children.
	deleted map[job.UID]bool
	// doubtful are active jobs that the children show and that were perhaps deleted.
	doubtful []Reference
	// taken are the runs that were perhaps started, and whose names belong to other owners.
	taken []time.Time
	// ended are the places of jobs that have ended before the snapshot shows the status that names them.
	ended []int
	// unshown is true if a status names a job that neither the snapshot's status nor the children
	// show: it may be gone, and then only a round that sees that status takes it out.
	unshown bool
}

// patience is how long a status may stay behind what the memory knows. No cache is
// that late: another writer has changed the status, and nothing waits for it any more.
const patience = 5 * time.Minute

// recallUnrecorded returns the latest run that was recorded, and the run of a status write that has not
// succeeded, until the snapshot shows it. Nothing else may know of that run: its job can be gone
// before the status is seen (CI1).
//
// The memory also keeps the latest time that any snapshot has shown: the next one may come
// from a cache that is behind. A time in the future is not kept, unless this controller has
// written it: it may be a mistake, which a user corrects.
func recallUnrecorded(m *memory, s *Snapshot) (recorded, unrecorded time.Time) {
	seen := s.CronJob.Status.LastScheduleTime
	if !keepsUnrecorded(s.Options.Quirks) {
		return m.Recorded, time.Time{}
	}

	recorded = m.Recorded
	if !seen.After(s.Now) {
		recorded = later(recorded, seen)
	}

	if m.Unrecorded.After(seen) {
		return recorded, m.Unrecorded
	}
	return later(recorded, m.Unrecorded), time.Time{}
}

// recallWrites adds to the census what the memory knows better than the snapshot, and brings the memory
// up to date: the jobs that were started, replaced and deleted, and since when the snapshots have been late.
func (c *census) recallWrites(s *Snapshot, m *memory) {
	if !keepsWrites(s.Consistent, s.Options.Quirks) {
		m.Started, m.Replaced, m.Deleted, m.Behind = nil, nil, nil, time.Time{}
		return
	}

	var hidden bool
	m.Started, hidden = c.recallStarts(s, m.Started, m.Accounted)
	m.Replaced = c.recallReplaced(s, m.Replaced, slices.ContainsFunc(m.Started, isOfRun))

	late := hidden || m.Recorded.After(s.CronJob.Status.LastScheduleTime)
	m.Behind = behindSince(m.Behind, s.Now, late || c.unshown || len(c.ended) > 0)

	// Another writer has changed a status that stays behind.
	patient := m.Behind.IsZero() || s.Now.Before(m.Behind.Add(patience))
	c.behind = late && patient
	if !patient {
		m.Started, c.ended, c.unshown = slices.DeleteFunc(m.Started, isHidden), nil, false
	}

	for _, place := range c.ended {
		c.marks[place] |= markNamed // the history spares it
	}
	m.Deleted = c.recallDeleted(s, m.Deleted)
}

// behindSince is since when the snapshots have been late.
func behindSince(since, now time.Time, late bool) time.Time {
	switch {
	case !late:
		return time.Time{}
	case since.IsZero(), since.After(now): // or a clock that went back would make it long
		return now
	}
	return since
}

// recallStarts takes the started jobs that run into the active list, and returns those that
// the next round must know. It reports whether a snapshot has yet to show a job of which nothing
// else is known.
func (c *census) recallStarts(s *Snapshot, starts []startedJob, accounted time.Time) (kept []startedJob, hidden bool) {
	if len(starts) == 0 {
		return nil, false
	}

	status, unstored := &s.CronJob.Status, s.Options.ActiveFromChildren
	isNamed := memberOf(status.Active, len(starts))
	placeNamed := childNamed(c.children, len(starts))

	for _, start := range starts {
		place := placeNamed(start.Name)
		sight := c.sightOf(&start, place)

		switch {
		case start.Over && unstored:
			continue // no status names it
		case isNamed(start.UID, start.Name):
			if sight != sightNone && sight != sightTriggered {
				continue // the children tell the rest, but not that a trigger has started it
			}
			start = recordedIn(status.Active, start)

		case sight.runs():
			if c.isOut(&c.children[place]) {
				continue // a run that is not recorded is found as one
			}
			start.UID = c.children[place].UID
			c.takeIn(place)
		case hasLeft(start, status):
			continue

		case sight == sightForeign:
			if start.isAccountedLost(accounted) {
				c.taken = append(c.taken, start.ScheduledTime) // it was not reported, since it might have started
			}
			continue
		case sight == sightOther:
			continue
		case sight == sightEnded:
			if unstored {
				continue
			}
			start.Over = true
			c.ended = append(c.ended, place) // nothing else would take it out of that status

		// No child has its name.
		case start.Over:
			c.unshown = true // it holds nothing back
		case start.Recorded:
			hidden, c.unshown = true, true
		case start.UID == "":
			hidden = hidden || start.Found
		default:
			c.takeInUnrecorded(&start)
			c.unshown = c.unshown || !unstored // if it is gone
		}
		kept = append(kept, start)
	}
	return kept, hidden
}

// sight is what the children show of a started job.
type sight uint8

const (
	// sightNone: no child has its name.
	sightNone sight = iota
	// sightForeign: a job of another owner has it.
	sightForeign
	// sightOther: another job of the CronJob has it, or one that has ended and may be another.
	sightOther
	// sightTriggered: it runs, for a trigger.
	sightTriggered
	// sightRunning: it runs, for a run of the schedule.
	sightRunning
	// sightEnded: it has ended.
	sightEnded
)

func (s sight) runs() bool { return s == sightTriggered || s == sightRunning }

// sightOf returns what the children show of a started job. The child at the place has its name.
func (c *census) sightOf(start *startedJob, place int) sight {
	if place < 0 {
		return sightNone
	}

	child := &c.children[place]
	isKnown := start.UID == child.UID
	switch {
	case child.Foreign:
		return sightForeign
	case child.isFinished() && isKnown:
		return sightEnded
	case child.isFinished(), !isKnown && start.UID != "":
		return sightOther
	case child.isOfRun():
		return sightRunning
	}
	return sightTriggered
}

// recordedIn returns a started job with what an active list says of it: its UID, and that it is recorded.
// The list may come from a fresh look at the CronJob, and the next snapshot's may be older
// (Plan.Unexpected), so the job is remembered.
func recordedIn(active []Reference, s startedJob) startedJob {
	for i := 0; s.UID == "" && i < len(active); i++ {
		if active[i].Name == s.Name {
			s.UID = active[i].UID
		}
	}
	s.Recorded = true
	return s
}

// hasLeft reports whether a status is later than the one that named a job, whose name it lacks.
func hasLeft(s startedJob, status *Status) bool {
	if !s.Recorded && !s.Over {
		return false // no status has named it
	}
	return isOfRun(s) && !status.LastScheduleTime.Before(s.ScheduledTime)
}

// takeInUnrecorded does the same for a job whose status write failed and which the children do not show.
// It was created, and may be gone by now.
func (c *census) takeInUnrecorded(s *startedJob) {
	c.found = append(c.found, s.Reference)
	c.verify = append(c.verify, s.Reference)
	c.lastRun = later(c.lastRun, s.ScheduledTime)
}

// isOfRun reports whether a started job is the schedule's.
func isOfRun(s startedJob) bool { return !s.ScheduledTime.IsZero() }

// recallReplaced returns the deleted jobs that the children do not show to be deleted. Where a run waits
// for them to be gone, those that the children do not show at all are looked up. Elsewhere these count as gone,
// unless the children are late: they may still come to show a job as long as they lack a later one.
func (c *census) recallReplaced(s *Snapshot, old []leavingJob, late bool) (kept []leavingJob) {
	if !c.replacing || len(old) == 0 {
		return nil
	}

	isNamed := memberOf(s.CronJob.Status.Active, len(old))
	c.deleted = make(map[job.UID]bool)
	certain := !c.whenGone && !late
	for _, l := range old {
		place := c.placeOf(l.UID)

		switch {
		case place >= 0:
			if child := &c.children[place]; child.isFinished() || child.isDeleted() {
				continue
			}
			l.Seen = true
			c.mark(place, l)
		case l.Seen, certain: // gone
			continue
		default:
			c.deleted[l.UID] = true
			if c.whenGone && !isNamed(l.UID, l.Name) { // the active jobs are looked up in any case
				c.verify = append(c.verify, l.Reference)
			}
		}
		kept = append(kept, l)
	}
	return kept
}

// mark notes that a child was deleted and does not show it.
func (c *census) mark(place int, l leavingJob) {
	c.marks[place] |= markDeleted
	if l.Gone {
		c.marks[place] |= markGone
	}
}

// recallDeleted finds the jobs that were deleted, or perhaps, and that the status still names though the
// children show them: these may be older than the deletion (CL2). It returns the jobs that the next
// round must know: a status that is behind may yet name them.
func (c *census) recallDeleted(s *Snapshot, old []leavingJob) (kept []leavingJob) {
	if len(old) == 0 {
		return nil
	}

	isNamed := memberOf(s.CronJob.Status.Active, len(old))
	for _, l := range old {
		named, place := isNamed(l.UID, l.Name), c.placeOf(l.UID)
		isShown := place >= 0 && !c.children[place].isFinished()

		isNeeded := named || c.behind
		if l.Gone && s.Options.ActiveFromChildren {
			if isNeeded = isShown; isShown {
				c.mark(place, l)
			}
		} else if named && isShown {
			c.doubtful = append(c.doubtful, l.Reference)
		}
		if isNeeded {
			kept = append(kept, l)
		}
	}
	return kept
}

// appendDoubtful appends the jobs that were perhaps deleted, so that they are looked up, except those that
// this round deletes.
func (c *census) appendDoubtful(verify []Reference, remove []Deletion) []Reference {
	for _, ref := range c.doubtful {
		if !slices.ContainsFunc(remove, func(d Deletion) bool { return d.UID == ref.UID }) {
			verify = append(verify, ref)
		}
	}
	return verify
}

// appendLost appends jobs that may have been created without a reply, so that they are looked up:
// before others are created that must not run beside them, and before their runs are
// reported, which are those up to accounted. It returns the number of the latter, which come
// last. A creation that is tried again needs no look: its name is its lock.
func appendLost(verify []Reference, starts []startedJob, limited []string, accounted time.Time) ([]Reference, count) {
	if !slices.ContainsFunc(starts, isLost) {
		return verify, 0
	}

	var reviewed []Reference
	for _, start := range starts {
		isOther := func(name string) bool { return name != start.Name }
		switch {
		case isLost(start) && slices.ContainsFunc(limited, isOther):
			verify = append(verify, start.Reference)
		case start.isAccountedLost(accounted):
			reviewed = append(reviewed, start.Reference)
		}
	}
	return append(verify, reviewed...), count(len(reviewed))
}

// limited returns the names of the creations that the active jobs have decided about.
func limited(m *moves, s *Snapshot, c *census) (names []string) {
	for i := range m.create {
		if creation := &m.create[i]; isLimited(creation, m.backfills, s, c) {
			names = append(names, creation.Name)
		}
	}
	return names
}

// isLimited reports whether the active jobs decided about a creation.
func isLimited(creation *Creation, steps []backfillStep, s *Snapshot, c *census) bool {
	switch {
	case creation.Trigger != "":
		i, _ := findTrigger(c.triggers, creation.Trigger)
		return limitOf(c.triggers[i].Overlap, s.Options.MaxActive) > 0
	case creation.Backfill != "":
		i := slices.IndexFunc(steps, func(b backfillStep) bool { return b.ID == creation.Backfill })
		return backfillLimit(&steps[i].Backfill, s.Options.MaxActive) > 0
	}
	return dependsOnActive(s)
}

// waitForSnapshot holds something back until the snapshot shows the controller's own
// writes (CI15). The snapshots have not done so since the time behind.
func waitForSnapshot(now, behind, run time.Time, name string) moves {
	held := waitsFor(Wait{Reason: cronjobreason.WaitStale, Run: run, Name: name, Until: behind.Add(patience)})
	held.look = lookAgain(now, behind)
	return held
}

// lookAgain is when to plan again, with no event that asks for it, where something has waited for
// a newer snapshot since a time: after a second, and then each time when the wait has
// doubled, or after a minute.
func lookAgain(now, since time.Time) time.Time {
	return now.Add(min(max(now.Sub(since), time.Second), time.Minute))
}
