package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// remember makes the next memory (B5).
func (p *Plan) remember(s *Settlement, settled bool) memory {
	m, w := p.basis.Memory, &s.writes
	tellsMore := s.Status.LastScheduleTime.After(m.Recorded) || p.hasStarted(w) || p.basis.Found > 0
	if s.Write && settled && tellsMore {
		m.Behind = time.Time{} // the next snapshots lack this write: the wait for it begins anew (CI15)
	}

	switch last := s.Status.LastScheduleTime; {
	case s.Write && settled:
		m.Recorded, m.Unrecorded = later(m.Recorded, last), time.Time{}
	case !settled && keepsUnrecorded(p.basis.Quirks) && last.After(p.basis.Before.LastScheduleTime):
		m.Unrecorded = last
	}

	for i := range p.Create {
		c, r := &p.Create[i], value.At(w.Created, i).Result
		switch {
		case c.Trigger != "" || c.Backfill != "":
		case c.Reason == CreateOldest && r == ResultNameTaken:
			m.Since = c.ScheduledTime // or the later runs would never get their turn
			m.Accounted = later(m.Accounted, m.Since)
		case r == ResultDone, r == ResultAlreadyExists:
			m.Accounted = later(m.Accounted, c.ScheduledTime)
		}
	}

	m.Started, m.Replaced = p.remembered(w, settled, s.Write && settled), p.leaving(w)
	m.Deleted = p.deleted(s, s.Write && settled)
	return m
}

// hasStarted reports whether the round has created a job.
func (p *Plan) hasStarted(w *Writes) bool {
	for i := range p.Create {
		if r := value.At(w.Created, i).Result; r == ResultDone || r == ResultAlreadyExists {
			return true
		}
	}
	return false
}

// remembered is the next memory of started jobs: what is known to have ended leaves it,
// and what the round has created enters. A status that was written was on condition of the one that the
// snapshot shows, so that was the latest: a job that was recorded before and is not on its list has left it.
func (p *Plan) remembered(w *Writes, settled, written bool) []startedJob {
	if !keepsWrites(p.basis.Consistent, p.basis.Quirks) {
		return nil
	}
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
	keep := func(s startedJob) {
		if key := (startKey{s.UID, s.Name}); !over[key] {
			over[key] = true // each once
			s.Recorded = s.Recorded || settled && s.UID != ""
			kept = append(kept, s)
		}
	}

	isActive := memberOf(p.basis.Status.Active, len(known))
	for i := range known {
		s := known[i]
		s.Over = s.Over || gone[s.UID]
		isLeft := s.Over || s.Recorded && !isActive(s.UID, s.Name)
		if !written || !isLeft {
			keep(s)
		}
	}

	for i := range found {
		keep(startedJob{Reference: found[i]})
	}

	p.markFound(kept, w)
	return append(kept, p.newStarts(w, settled)...)
}

// found are the jobs that the round has added to the active list: until a snapshot shows
// the status that names them, they are known only from their trigger or backfill, which
// may be settled by then.
func (p *Plan) found() []Reference {
	active := p.basis.Status.Active
	return active[len(active)-p.basis.Found.of(len(active)):]
}

// startKey tells started jobs apart: those without a known UID by their names.
type startKey struct {
	uid  job.UID
	name string
}

// overStarts are the started jobs that need not be remembered any more; gone are those of goneUnnamed.
func (p *Plan) overStarts(w *Writes, gone map[job.UID]bool) map[startKey]bool {
	over := make(map[startKey]bool)
	for i := range p.Verify {
		if ref := &p.Verify[i]; value.At(w.Verified, i) == ResultGone && !gone[ref.UID] {
			over[startKey{ref.UID, ref.Name}] = true
		}
	}

	for i := range p.Delete {
		if isDeleted(value.At(w.Deleted, i).Result) {
			over[startKey{p.Delete[i].UID, p.Delete[i].Name}] = true
		}
	}

	for i := range p.Create {
		if r := value.At(w.Created, i).Result; r != ResultNotTried {
			over[startKey{"", p.Create[i].Name}] = true
		}
	}
	return over
}

// goneUnnamed are the jobs that a look-up has found gone and that the snapshot's status does not name. The next
// one may, if the reply to its write was lost, and no later write tells (CL2).
func (p *Plan) goneUnnamed(w *Writes) map[job.UID]bool {
	gone, isNamed := make(map[job.UID]bool), memberOf(p.basis.Before.Active, len(p.Verify))
	for i := range p.Verify {
		if ref := &p.Verify[i]; ref.UID != "" && value.At(w.Verified, i) == ResultGone && !isNamed(ref.UID, ref.Name) {
			gone[ref.UID] = true
		}
	}
	return gone
}

// markFound notes which jobs without a known UID a look-up has found.
func (p *Plan) markFound(starts []startedJob, w *Writes) {
	var found map[string]bool
	for i := range p.Verify {
		if p.Verify[i].UID == "" && value.At(w.Verified, i) == ResultDone {
			if found == nil {
				found = make(map[string]bool)
			}
			found[p.Verify[i].Name] = true
		}
	}

	for i := range starts {
		if s := &starts[i]; s.UID == "" && found[s.Name] {
			s.Found = true
		}
	}
}

// newStarts are the jobs that the round has created, or may have.
func (p *Plan) newStarts(w *Writes, settled bool) []startedJob {
	var starts []startedJob
	for i := range p.Create {
		c, e := &p.Create[i], value.At(w.Created, i)
		s := startedJob{ScheduledTime: c.ScheduledTime, Backfilled: c.Backfill != "", Recorded: settled}

		switch {
		case e.Result == ResultDone || e.Result == ResultAlreadyExists && !p.basis.Quirks.Has(cronjobquirk.NoNamespace):
			s.Reference = p.named(c, e.Job)
		case e.Result == ResultUnsuccessful:
			s.Reference, s.Recorded = p.named(c, Reference{}), false
		default:
			continue
		}

		if !s.Recorded && p.basis.Quirks.Has(cronjobquirk.BlindCreate) {
			continue // with it, what was not recorded never is
		}
		if s.Backfilled {
			s.ScheduledTime = time.Time{}
		}
		starts = append(starts, s)
	}
	return starts
}

// deleted is the next memory of the active jobs that were deleted, or perhaps. Those that a look-up has
// found are there after all. The others are known until a snapshot's status does not name them, or, without
// a list, until the children do not show them. A
// status that was written with a later run tells as much by its time (Behind).
func (p *Plan) deleted(s *Settlement, written bool) (all []leavingJob) {
	w, old := &s.writes, p.basis.Memory.Deleted
	if len(old)+len(p.Delete) == 0 || !keepsWrites(p.basis.Consistent, p.basis.Quirks) {
		return nil
	}

	known := make(map[job.UID]bool)
	keep := func(l leavingJob) {
		if !known[l.UID] {
			known[l.UID] = true // each once
			all = append(all, l)
		}
	}

	isActive := memberOf(p.basis.Status.Active, len(p.Delete))
	isTold := written && s.Status.LastScheduleTime.After(p.basis.Before.LastScheduleTime)
	for i := range p.Delete {
		switch d, r := &p.Delete[i], value.At(w.Deleted, i).Result; {
		case d.UID == "", r == ResultNotTried, isTold && isDeleted(r), !isActive(d.UID, d.Name):
		default:
			keep(leavingJob{Reference: d.Reference, Gone: r == ResultGone})
		}
	}

	gone := make(map[job.UID]bool)
	for i := range p.Verify {
		uid, r := p.Verify[i].UID, value.At(w.Verified, i)
		known[uid], gone[uid] = known[uid] || r == ResultDone, r == ResultGone
	}
	for _, l := range old {
		l.Gone = l.Gone || gone[l.UID]
		keep(l)
	}
	return all
}

// leaving is the next memory of the jobs that Replace has deleted.
func (p *Plan) leaving(w *Writes) []leavingJob {
	if !keepsWrites(p.basis.Consistent, p.basis.Quirks) {
		return nil
	}

	looks := make(map[job.UID]Result, len(p.Verify))
	for i := range p.Verify {
		looks[p.Verify[i].UID] = value.At(w.Verified, i)
	}

	var all []leavingJob
	for _, l := range p.basis.Memory.Replaced {
		if looks[l.UID] != ResultGone {
			all = append(all, l)
		}
	}

	for i := range p.Delete {
		d, r := &p.Delete[i], value.At(w.Deleted, i).Result
		_, unseen := looks[d.UID]
		if isLeft := r == ResultDone || r == ResultGone && !unseen; isLeft && d.Reason == DeleteReplaced {
			all = append(all, leavingJob{Reference: d.Reference, Seen: !unseen, Gone: r == ResultGone})
		}
	}
	return all
}
