package cronjob

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
)

// Own writes may be missing from a snapshot: caches show the CronJob and its jobs
// late, and each by itself. What depends on the active list must not be decided
// without them (CI15). The memory therefore holds the jobs that were started until a
// status names them, and a snapshot whose status is older than the last write holds
// such decisions back.

// patience is how long a status may stay behind what the memory knows. No cache is
// that late: somebody else has changed the status, and nothing waits for it any more.
const patience = 5 * time.Minute

// startedJob is a job that was created and that the status of no snapshot has named yet.
type startedJob struct {
	// Reference names the job. Without a UID nobody knows whether there is one: the
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

// recallWrites adds to the snapshot what the memory knows better.
func (p *Planner) recallWrites() {
	m := &p.plan.basis.Memory
	if p.snap.Options.Quirks.Has(cronjobquirk.Stale) {
		m.Started, m.Replaced, m.Behind = nil, nil, time.Time{}
		return
	}
	hidden := p.recallStarts()
	p.recallReplaced()
	late := hidden || m.Recorded.After(p.cj.Status.LastScheduleTime)
	m.Behind = behindSince(m.Behind, p.snap.Now, late)
	p.behind = late && p.snap.Now.Before(m.Behind.Add(patience))
	if late && !p.behind {
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

// recallStarts brings the memory of started jobs up to date. Those that run are active;
// it reports whether a snapshot has yet to show one of which nothing else is known.
func (p *Planner) recallStarts() (hidden bool) {
	m := &p.plan.basis.Memory
	starts := m.Started
	m.Started = nil // the snapshot's is not ours to change
	if len(starts) == 0 {
		return false
	}
	isNamed := memberOf(p.cj.Status.Active, len(starts))
	child := p.childNamed(len(starts))
	for _, s := range starts {
		place := child(s.Name)
		if isNamed(s.UID, s.Name) || place >= 0 && !p.isRunning(place, s.UID) {
			continue
		}
		switch {
		case place >= 0:
			s.UID = p.snap.Children[place].UID
			p.takeIn(place)
		case s.UID == "" || s.Recorded:
			hidden = hidden || isHidden(s)
		default:
			p.recallUnrecorded(&s)
		}
		p.spares = p.spares || s.Backfilled
		m.Started = append(m.Started, s)
	}
	return hidden
}

// isRunning reports whether a child is ours and runs; a UID, if known, must be its own.
func (p *Planner) isRunning(place int, uid string) bool {
	c := &p.snap.Children[place]
	return c.Owner == Owned && !c.isFinished() && (uid == "" || uid == c.UID)
}

// recallUnrecorded takes a job into the active list whose status write failed, and which
// the children do not show: it was created, and may be gone by now.
func (p *Planner) recallUnrecorded(s *startedJob) {
	status := &p.plan.basis.Status
	p.found = append(p.found, s.Reference)
	p.plan.Verify = append(p.plan.Verify, s.Reference)
	if s.ScheduledTime.After(status.LastScheduleTime) {
		status.LastScheduleTime = s.ScheduledTime
	}
}

// leavingJob is a job that was deleted with its pods and that no children have shown under
// deletion yet.
type leavingJob struct {
	Reference
	// Seen says that the children have shown it: once they do not, it is gone.
	Seen bool `json:"seen,omitempty"`
}

// recallReplaced keeps those of the deleted jobs of which the children do not tell that
// they are on their way out.
func (p *Planner) recallReplaced() {
	m := &p.plan.basis.Memory
	old := m.Replaced
	if len(old) == 0 {
		return
	}
	m.Replaced = nil
	if !p.snap.Options.ReplaceWhenGone || p.cj.Spec.ConcurrencyPolicy != Replace {
		return
	}
	for _, l := range old {
		place := p.childOf(l.UID)
		switch {
		case place < 0 && l.Seen: // gone
			continue
		case place < 0:
			p.plan.Verify = append(p.plan.Verify, l.Reference)
		case p.snap.Children[place].isFinished() || !p.snap.Children[place].DeletionTimestamp.IsZero():
			continue
		default:
			l.Seen = true
			if p.leaving == nil {
				p.leaving = make(map[int]bool)
			}
			p.leaving[place] = true
		}
		m.Replaced = append(m.Replaced, l)
	}
}

// needsList notes that a creation was planned by the active list.
func (p *Planner) needsList(name string) {
	p.dependent++
	p.dependentName = name
}

// verifyLost has jobs looked up that may have been created without a reply, before
// others are created that must not run beside them. A creation that is tried again
// needs no look: its name is its lock.
func (p *Planner) verifyLost() {
	starts := p.plan.basis.Memory.Started
	for i := range starts {
		s := &starts[i]
		if s.UID == "" && !s.Found && (p.dependent > 1 || p.dependent == 1 && p.dependentName != s.Name) {
			p.plan.Verify = append(p.plan.Verify, s.Reference)
		}
	}
}

// waitForSnapshot holds something back until the snapshot shows the controller's own
// writes, and asks for a round (CI15).
func (p *Planner) waitForSnapshot(run time.Time, name string) {
	b := &p.plan.basis
	b.Stale = true
	p.wait(Wait{Reason: WaitStale, Run: run, Name: name, Until: b.Memory.Behind.Add(patience)})
}
