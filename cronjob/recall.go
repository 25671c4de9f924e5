package cronjob

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// A snapshot may lack the controller's own writes: caches show the CronJob and its jobs late, and
// independently of each other. Decisions that depend on the active list must not be made without
// these writes (CI15). Therefore the memory holds started jobs until a status lists them and the
// children show them. If the snapshot's status is older than the last write, the decisions wait.

// recalled holds what the memory adds to the snapshot.
type recalled struct {
	// behind is true when the snapshot is older than the controller's own writes (CI15). late is the
	// time since which snapshots have lacked some of them.
	behind bool
	late   time.Time
	// accounted is the last run that the snapshot's memory accounts for; zero means unknown.
	accounted time.Time
	// spared holds the UIDs of backfilled jobs that the children may not show yet.
	spared map[job.UID]bool
	// deleted holds the UIDs of replaced jobs that are not among the children.
	deleted map[job.UID]bool
	// doubtful are active jobs that the children show and that were perhaps deleted.
	doubtful []Reference
	// taken are runs that were perhaps started, but whose names belong to other owners.
	taken []time.Time
	// ended are indexes into children: jobs that have ended, although a written status lists them
	// as active. The snapshot does not show that status yet.
	ended []int
	// unshown is true if a status that was certainly or perhaps written lists a job that neither
	// the snapshot's status nor the children show. The job may be gone, and only a round that sees
	// that status removes it from the list.
	unshown bool
}

// patience limits how long rounds wait for a snapshot with the status that was written. No cache is
// late for longer: another writer must have replaced the status, and no snapshot will show it.
const patience = 5 * time.Minute

// recallUnrecorded returns the latest run that was recorded. It also returns the run of a failed
// status write, as long as no snapshot shows that run. The memory may be the only place that has
// it: the run's job can be gone before a status shows the run (CI1).
//
// The latest time that any snapshot has shown also counts as recorded, because the next snapshot
// may come from a cache that is behind. A time in the future counts only if this controller wrote
// it: otherwise it may be a mistake, which a user corrects.
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

// recallWrites adds to the census the controller's own writes that the snapshot does not show yet.
// It also updates the memory: the started, replaced and deleted jobs, and since when snapshots have
// been late.
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
	c.late = m.Behind

	// If a status has not shown up for the time patience, another writer has changed it.
	patient := m.Behind.IsZero() || s.Now.Before(m.Behind.Add(patience))
	c.behind = late && patient
	if !patient {
		m.Started, c.ended, c.unshown = slices.DeleteFunc(m.Started, isHidden), nil, false
	}

	for _, place := range c.ended {
		c.marks[place] |= markNamed // the history keeps it
	}
	m.Deleted = c.recallDeleted(s, m.Deleted)
}

// behindSince returns the time since which snapshots have been late.
func behindSince(since, now time.Time, late bool) time.Time {
	switch {
	case !late:
		return time.Time{}
	case since.IsZero(), since.After(now): // a clock that went back must not prolong the wait
		return now
	}
	return since
}

// recallStarts adds the started jobs that are running to the active list, and returns the started
// jobs that the next round must know. Result hidden is true if a written status lists a job, or a
// look-up has found it, and the snapshot shows nothing of it.
func (c *census) recallStarts(s *Snapshot, starts []startedJob, accounted time.Time) (kept []startedJob, hidden bool) {
	if len(starts) == 0 {
		return nil, false
	}

	status, unstored := &s.CronJob.Status, s.Options.ActiveFromChildren
	isNamed := memberOf(status.Active, len(starts))
	placeNamed := find(len(c.children), len(starts), func(i int) string { return c.children[i].Name })

	for _, start := range starts {
		place := placeNamed(start.Name)
		sight := c.sightOf(&start, place)

		switch {
		case start.Over && unstored:
			continue // no stored list can contain the job
		case place >= 0 && c.isStuck(&c.children[place]):
			continue // it leaves the list with this round, or has left it
		case isNamed(start.UID, start.Name):
			if sight != sightNone && sight != sightTriggered {
				continue // only a trigger's start must be remembered further
			}
			start = recordedIn(status.Active, start)

		case sight.runs():
			if c.isOut(&c.children[place]) {
				continue // recoverStarts finds it if its run is not recorded
			}
			start.UID = c.children[place].UID
			c.takeIn(place)
		case hasLeft(start, status):
			continue

		case sight == sightForeign:
			if start.isAccountedLost(accounted) {
				c.taken = append(c.taken, start.ScheduledTime) // not reported before, because it might have started
			}
			continue
		case sight == sightOther:
			continue
		case sight == sightEnded:
			if unstored {
				continue
			}
			start.Over = true
			c.ended = append(c.ended, place) // nothing else would remove it from that status

		// No child has the name.
		case start.Over:
			c.unshown = true // but nothing waits for it
		case start.Recorded:
			hidden, c.unshown = true, true
		case start.UID == "":
			hidden = hidden || start.Found
		default:
			c.takeInUnrecorded(&start)
			c.unshown = c.unshown || !unstored // it may be gone
		}
		kept = append(kept, start)
	}
	return kept, hidden
}

// sight is the state of a started job according to the children.
type sight uint8

const (
	// sightNone: no child has the job's name.
	sightNone sight = iota
	// sightForeign: a foreign child has the job's name.
	sightForeign
	// sightOther: the child with the job's name is another job of the CronJob, or it has finished
	// and may be another job.
	sightOther
	// sightTriggered: the job runs, for a trigger.
	sightTriggered
	// sightRunning: the job runs, for a run of the schedule.
	sightRunning
	// sightEnded: the job has ended.
	sightEnded
)

func (s sight) runs() bool { return s == sightTriggered || s == sightRunning }

// sightOf returns the state of a started job. Argument place is the index of the child that has its
// name, or -1.
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

// recordedIn returns s with the UID that the active list has for the job, and marked as recorded.
// The job stays in the memory, because the list may come from a fresh read of the CronJob
// (Plan.Unexpected), and the next snapshot's list may be older.
func recordedIn(active []Reference, s startedJob) startedJob {
	for i := 0; s.UID == "" && i < len(active); i++ {
		if active[i].Name == s.Name {
			s.UID = active[i].UID
		}
	}
	s.Recorded = true
	return s
}

// hasLeft reports whether a started job was in the active list and has left it. The status does not
// list the job. If hasLeft is false, the status may be from before the job was listed.
func hasLeft(s startedJob, status *Status) bool {
	if !s.Recorded && !s.Over {
		return false // no status has listed it
	}
	return isOfRun(s) && !status.LastScheduleTime.Before(s.ScheduledTime)
}

// takeInUnrecorded notes that a started job is missing from the active list: its status write
// failed, and the children do not show it. The job may be gone already, so it is also looked up.
func (c *census) takeInUnrecorded(s *startedJob) {
	c.found = append(c.found, s.Reference)
	c.verify = append(c.verify, s.Reference)
	c.lastRun = later(c.lastRun, s.ScheduledTime)
}

// isOfRun reports whether the schedule started a job.
func isOfRun(s startedJob) bool { return !s.ScheduledTime.IsZero() }

// recallReplaced returns the replaced jobs whose deletion the children do not show yet. If a run
// waits until these jobs are gone, each job that is not among the children is looked up. Otherwise
// such a job counts as gone, unless the children are late. Children that do not show the latest
// jobs yet may not show a replaced job yet either.
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

// mark marks a child as deleted, although the child does not show that yet.
func (c *census) mark(place int, l leavingJob) {
	c.marks[place] |= markDeleted
	if l.Gone {
		c.marks[place] |= markGone
	}
}

// recallDeleted finds the jobs that both the status and the children show, although they were
// certainly or perhaps deleted: the children may be older than the deletion (CL2). It returns the
// jobs to keep in the memory, because another late status may list them.
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

// appendDoubtful appends the perhaps deleted jobs to look up, unless this round deletes them.
func (c *census) appendDoubtful(verify []Reference, remove []Deletion) []Reference {
	for _, ref := range c.doubtful {
		if !slices.ContainsFunc(remove, func(d Deletion) bool { return d.UID == ref.UID }) {
			verify = append(verify, ref)
		}
	}
	return verify
}

// appendLost appends the jobs to look up because their creation had no reply. First come jobs that
// must not run beside jobs that this round creates. Last come jobs whose runs already count as
// started: if such a job does not exist, its run must be reported as unstarted. appendLost also
// returns the number of these last jobs. A job whose creation is repeated needs no look-up: if the
// job exists, its name is taken.
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

// waitForSnapshot returns a wait until snapshots show the controller's own writes (CI15).
func (c *census) waitForSnapshot(run time.Time, name string) moves {
	held := waitsFor(Wait{Reason: cronjobreason.WaitStale, Run: run, Name: name, Until: c.late.Add(patience)})
	held.Look = lookAgain(c.now, c.late)
	return held
}

// lookAgain returns the time to plan again, even without an event, if something has waited for a
// newer snapshot since the given time. The next look is after as long as the wait has taken so far,
// but after at least a second and at most a minute.
func lookAgain(now, since time.Time) time.Time {
	return now.Add(min(max(now.Sub(since), time.Second), time.Minute))
}
