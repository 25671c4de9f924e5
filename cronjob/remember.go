package cronjob

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// remember returns the next memory (B5). The status is settled if its write succeeded or was
// unneeded.
func (p *Plan) remember(s *Settlement, settled, written bool) memory {
	m, w, b := p.basis.Memory, &s.writes, &p.basis
	switch last := s.Status.LastScheduleTime; {
	case written:
		switch {
		case last.After(m.Recorded), b.Found > 0, slices.ContainsFunc(w.Created, hasStarted):
			m.Behind = time.Time{} // restart the wait, now for a snapshot with this write (CI15)
		}
		m.Recorded, m.Unrecorded = later(m.Recorded, last), time.Time{}
	case settled:
	case keepsUnrecorded(b.Quirks) && last.After(b.Before.LastScheduleTime):
		m.Unrecorded = last
	}

	for i := range p.Create {
		switch c, e := &p.Create[i], value.At(w.Created, i); {
		case c.isPassed(e.Result):
			m.Since = c.ScheduledTime // otherwise later runs would never start
			m.Accounted = later(m.Accounted, m.Since)
		case c.isScheduled() && hasStarted(e):
			m.Accounted = later(m.Accounted, c.ScheduledTime)
		}
	}

	if !keepsWrites(b.Consistent, b.Quirks) {
		m.Started, m.Replaced, m.Deleted = nil, nil, nil
		return m
	}
	looks := p.looks(w)
	m.Started, m.Replaced = p.remembered(w, settled, written), p.leaving(w, looks)
	m.Deleted = p.deleted(s, looks, written)
	return m
}

// remembered returns the started jobs for the next memory. They are the started jobs of the last
// memory that are not known to have ended, and the jobs that the round has created. The status
// write is conditional on the snapshot's version. So after a successful write, a recorded job that
// the active list lacks has left it.
func (p *Plan) remembered(w *Writes, settled, written bool) []startedJob {
	known, found := p.basis.Memory.Started, p.found()
	if len(known)+len(found) == 0 {
		return p.newStarts(w, settled)
	}

	var kept []startedJob
	var gone map[job.UID]bool
	if settled && !written {
		gone = p.goneUnnamed(w)
	}

	over := p.overStarts(w, gone)
	refound := p.lostNames(w, cronjobreason.ResultDone)
	keep := func(s startedJob) {
		if key := (startKey{s.UID, s.Name}); !over[key] {
			over[key] = true // only once
			if s.UID != "" {
				s.Recorded = s.Recorded || settled
			} else if refound[s.Name] {
				s.Found = true
			}
			kept = append(kept, s)
		}
	}

	isActive := memberOf(p.basis.Status.Active, len(known))
	for _, s := range known {
		if gone[s.UID] {
			s.Over = true
		}
		hasLeft := s.Over || s.Recorded && !isActive(s.UID, s.Name)
		if !written || !hasLeft {
			keep(s)
		}
	}
	for i := range found {
		keep(startedJob{Reference: found[i]})
	}
	return append(kept, p.newStarts(w, settled)...)
}

// found returns the jobs that the round has added to the active list. They must be remembered until
// a snapshot shows a status that lists them. The trigger or backfill that identified them may be
// settled before that.
func (p *Plan) found() []Reference {
	active := p.basis.Status.Active
	return active[len(active)-p.basis.Found.of(len(active)):]
}

// startKey identifies a started job. The UID is empty if it is not known.
type startKey struct {
	uid  job.UID
	name string
}

// overStarts returns the started jobs that need not be remembered any more. Argument gone is the
// result of goneUnnamed.
func (p *Plan) overStarts(w *Writes, gone map[job.UID]bool) map[startKey]bool {
	over := make(map[startKey]bool)
	for ref := range p.lookedUp(w, cronjobreason.ResultGone) {
		if !gone[ref.UID] {
			over[startKey{ref.UID, ref.Name}] = true
		}
	}
	for d := range p.removed(w) {
		over[startKey{d.UID, d.Name}] = true
	}
	for i := range p.Create {
		if value.At(w.Created, i).Result != cronjobreason.ResultNotTried {
			over[startKey{"", p.Create[i].Name}] = true
		}
	}
	return over
}

// goneUnnamed returns the jobs that look-ups found gone and that the snapshot's status does not
// list. The next snapshot's status may list them, if an earlier status was written but the reply
// was lost. Then the memory must show that they are gone (CL2).
func (p *Plan) goneUnnamed(w *Writes) map[job.UID]bool {
	gone, isNamed := make(map[job.UID]bool), memberOf(p.basis.Before.Active, len(p.Verify))
	for ref := range p.foundGone(w) {
		if !isNamed(ref.UID, ref.Name) {
			gone[ref.UID] = true
		}
	}
	return gone
}

// newStarts returns the jobs that the round has created, or perhaps created.
func (p *Plan) newStarts(w *Writes, settled bool) []startedJob {
	var starts []startedJob
	for i := range p.Create {
		c, e := &p.Create[i], value.At(w.Created, i)
		s := startedJob{ScheduledTime: c.ScheduledTime, Backfilled: c.Backfill != "", Recorded: settled}

		switch {
		case p.isKnown(e):
			s.Reference = p.named(c, e.Job)
		case e.Result == cronjobreason.ResultUnsuccessful:
			s.Reference, s.Recorded = p.named(c, Reference{}), false
		default:
			continue
		}

		if !s.Recorded && p.basis.Quirks.Has(cronjobquirk.BlindCreate) {
			continue // with the quirk, such a job is never recorded later
		}
		if s.Backfilled {
			s.ScheduledTime = time.Time{}
		}
		starts = append(starts, s)
	}
	return starts
}

// deleted returns, for the next memory, the active jobs that were certainly or perhaps deleted. A
// job that a look-up has found still exists, and is left out. The others stay until a snapshot's
// status does not list them or, if no list is stored, until the children do not show them. New
// deletions are left out if the written status has a later lastScheduleTime, because that time
// shows whether a snapshot is older than the deletions (Behind).
func (p *Plan) deleted(
	s *Settlement, looks map[job.UID]cronjobreason.Result, written bool,
) (all []leavingJob) {
	w, old := &s.writes, p.basis.Memory.Deleted
	if len(old)+len(p.Delete) == 0 {
		return nil
	}

	known := make(map[job.UID]bool)
	keep := func(l leavingJob) {
		if !known[l.UID] {
			known[l.UID] = true // only once
			all = append(all, l)
		}
	}

	isActive := memberOf(p.basis.Status.Active, len(p.Delete))
	isTold := written && s.Status.LastScheduleTime.After(p.basis.Before.LastScheduleTime)
	for i := range p.Delete {
		switch d, r := &p.Delete[i], value.At(w.Deleted, i).Result; {
		case d.UID == "", r == cronjobreason.ResultNotTried, isTold && isDeleted(r), !isActive(d.UID, d.Name):
		default:
			keep(leavingJob{Reference: d.Reference, Gone: r == cronjobreason.ResultGone})
		}
	}

	for _, l := range old {
		look := looks[l.UID]
		l.Gone = l.Gone || look == cronjobreason.ResultGone
		if look != cronjobreason.ResultDone {
			keep(l)
		}
	}
	return all
}

// leaving returns, for the next memory, the jobs that Replace has deleted.
func (p *Plan) leaving(w *Writes, looks map[job.UID]cronjobreason.Result) (all []leavingJob) {
	for _, l := range p.basis.Memory.Replaced {
		if looks[l.UID] != cronjobreason.ResultGone {
			all = append(all, l)
		}
	}

	for i := range p.Delete {
		d := &p.Delete[i]
		if d.Reason != cronjobreason.DeleteReplaced {
			continue
		}

		_, unseen := looks[d.UID]
		switch r := value.At(w.Deleted, i).Result; {
		case r == cronjobreason.ResultDone, r == cronjobreason.ResultGone && !unseen:
			all = append(all, leavingJob{Reference: d.Reference, Seen: !unseen, Gone: r == cronjobreason.ResultGone})
		}
	}
	return all
}
