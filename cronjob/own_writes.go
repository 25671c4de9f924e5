package cronjob

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/job"
)

// Own writes may be missing from a snapshot: caches show the CronJob and its jobs
// late, and each by itself. What depends on the active list must not be decided
// without them (CI15). The memory therefore holds the jobs that were started until a
// status names them, and a snapshot whose status is older than the last write holds
// such decisions back.

// patience is how long a status may stay behind what the memory knows. No cache is
// that late: another writer has changed the status, and nothing waits for it any more.
const patience = 5 * time.Minute

// startedJob is a job that was created and that the status of no snapshot has named yet.
type startedJob struct {
	// Reference names the job. Without a UID it is not known whether there is one: the
	// creation failed, or only its reply was lost.
	Reference
	// ScheduledTime is its run of the schedule; zero for triggers and backfills.
	ScheduledTime time.Time `json:"scheduledTime,omitzero"`
	Backfilled    bool      `json:"backfilled,omitempty"`
	// Recorded says that a status which names the job was written, Found that a look-up
	// has found a job without a known UID: the snapshots have yet to show it.
	Recorded bool `json:"recorded,omitempty"`
	Found    bool `json:"found,omitempty"`
}

// recallUnrecorded takes the time of a status write that has not succeeded into the status,
// until the snapshot shows it. Nothing else may know of the run: its job can be gone
// before the status is seen (CI1).
func recallUnrecorded(b *basis) {
	if !b.keepsUnrecorded() || !b.Memory.Unrecorded.After(b.Before.LastScheduleTime) {
		b.Memory.Unrecorded = time.Time{}
		return
	}
	b.Status.LastScheduleTime = b.Memory.Unrecorded
}

// recallWrites adds to the census what the memory knows better than the snapshot, and
// brings the memory up to date.
func (c *census) recallWrites(s *Snapshot, plan *Plan) {
	m := &plan.basis.Memory
	if !plan.basis.keepsWrites() {
		m.Started, m.Replaced, m.Behind = nil, nil, time.Time{}
		return
	}
	hidden := c.recallStarts(plan)
	if s.Options.ReplaceWhenGone && s.CronJob.Spec.ConcurrencyPolicy == Replace {
		c.recallReplaced(plan)
	} else {
		m.Replaced = nil
	}
	late := hidden || m.Recorded.After(s.CronJob.Status.LastScheduleTime)
	m.Behind = behindSince(m.Behind, s.Now, late)
	c.behind = late && s.Now.Before(m.Behind.Add(patience))
	if late && !c.behind {
		m.Started = slices.DeleteFunc(m.Started, isHidden)
	}
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

func isHidden(s startedJob) bool { return s.Recorded || s.Found }

// recallStarts takes the started jobs that run into the active list, and forgets those
// that the status names or the children show to have ended. It reports whether a snapshot
// has yet to show a job of which nothing else is known.
func (c *census) recallStarts(plan *Plan) (hidden bool) {
	m := &plan.basis.Memory
	starts := m.Started
	m.Started = nil // the slice is the snapshot's
	if len(starts) == 0 {
		return false
	}
	isNamed := memberOf(plan.basis.Before.Active, len(starts))
	placeNamed := childNamed(c.children, len(starts))
	for _, s := range starts {
		place := placeNamed(s.Name)
		if isNamed(s.UID, s.Name) || place >= 0 && !isRunning(&c.children[place], s.UID) {
			continue
		}
		switch {
		case place >= 0:
			s.UID = c.children[place].UID
			c.takeIn(place)
		case s.UID == "" || s.Recorded:
			hidden = hidden || isHidden(s)
		default:
			c.takeInUnrecorded(plan, &s)
		}
		m.Started = append(m.Started, s)
	}
	return hidden
}

// isRunning reports whether a child is ours and runs, and has the UID if one is given.
func isRunning(c *Child, uid job.UID) bool {
	return !c.Foreign && !c.isFinished() && (uid == "" || uid == c.UID)
}

// takeInUnrecorded finds a job for the active list whose status write failed and which
// the children do not show. It was created, and may be gone by now.
func (c *census) takeInUnrecorded(plan *Plan, s *startedJob) {
	status := &plan.basis.Status
	c.found = append(c.found, s.Reference)
	plan.Verify = append(plan.Verify, s.Reference)
	status.LastScheduleTime = later(status.LastScheduleTime, s.ScheduledTime)
}

// leavingJob is a job that was deleted with its pods and that no children have shown under
// deletion yet.
type leavingJob struct {
	Reference
	// Seen says that the children have shown it: once they do not, it is gone.
	Seen bool `json:"seen,omitempty"`
}

// recallReplaced keeps the deleted jobs that the children do not show to be deleted.
func (c *census) recallReplaced(plan *Plan) {
	m := &plan.basis.Memory
	old := m.Replaced
	m.Replaced = nil // the slice is the snapshot's
	for _, l := range old {
		place := c.placeOf(l.UID)
		switch {
		case place < 0 && l.Seen: // gone
			continue
		case place < 0:
			plan.Verify = append(plan.Verify, l.Reference)
		case c.children[place].isFinished() || !c.children[place].DeletionTimestamp.IsZero():
			continue
		default:
			l.Seen = true
			if c.leaving == nil {
				c.leaving = make(map[int]bool)
			}
			c.leaving[place] = true
		}
		m.Replaced = append(m.Replaced, l)
	}
}

// verifyLost has jobs looked up that may have been created without a reply, before
// others are created that must not run beside them. A creation that is tried again
// needs no look: its name is its lock.
func verifyLost(plan *Plan, s *Snapshot, c *census) {
	starts := plan.basis.Memory.Started
	if !slices.ContainsFunc(starts, isLost) {
		return
	}
	n, name := 0, ""
	for i := range plan.Create {
		if creation := &plan.Create[i]; isLimited(creation, plan.basis.Backfills, s, c) {
			n, name = n+1, creation.Name
		}
	}
	for _, start := range starts {
		if isLost(start) && (n > 1 || n == 1 && name != start.Name) {
			plan.Verify = append(plan.Verify, start.Reference)
		}
	}
}

// isLost reports whether it is not known if the job was created.
func isLost(s startedJob) bool { return s.UID == "" && !s.Found }

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
// writes, and asks for a round (CI15).
func waitForSnapshot(plan *Plan, run time.Time, name string) {
	b := &plan.basis
	b.Stale = true
	plan.wait(Wait{Reason: WaitStale, Run: run, Name: name, Until: b.Memory.Behind.Add(patience)})
}
