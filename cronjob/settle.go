package cronjob

import (
	"slices"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// Settlement holds the status that a round writes. Only Status stays valid after the plan has
// become invalid.
type Settlement struct {
	Status Status
	// Write is true if Status differs from the snapshot's status and must be written.
	Write bool

	plan   *Plan
	writes Writes
}

// Settle returns the status to write after everything else, once a round (C15):
// jobs that are gone or deleted leave the active list (C4, C5, C12), jobs that
// were created or found enter it and move lastScheduleTime (C14).
func (p *Plan) Settle(w Writes) Settlement {
	b := &p.basis
	status := b.Status
	status.Active = slices.Clip(status.Active)
	if gone := p.gone(&w); len(gone) > 0 {
		status.Active = slices.DeleteFunc(slices.Clone(status.Active), func(r Reference) bool { return gone[r.UID] })
	}

	status = p.recordStarts(status, &w)

	write := p.CronJobUID != "" && !equalStatus(&b.Before, &status)
	if write {
		status.Active = slices.Clone(status.Active) // it may be in a buffer of the planner
	}
	return Settlement{Status: status, Write: write, plan: p, writes: w}
}

// gone returns the UIDs of the jobs that leave the active list.
func (p *Plan) gone(w *Writes) map[job.UID]bool {
	if len(p.Verify)+len(p.Delete) == 0 {
		return nil
	}

	uids := make(map[job.UID]bool)
	for ref := range p.foundGone(w) {
		uids[ref.UID] = true
	}
	for d := range p.removed(w) {
		uids[d.UID] = true
	}
	return uids
}

// recordStarts adds the jobs that were created or found to the active list, each only once, and
// moves lastScheduleTime to their runs.
func (p *Plan) recordStarts(status Status, w *Writes) Status {
	if len(p.Create) == 0 {
		return status
	}

	isNamed := memberOf(status.Active, len(p.Create))
	for i := range p.Create {
		c, e := &p.Create[i], value.At(w.Created, i)
		if !p.isKnown(e) {
			continue
		}
		if !isNamed(e.Job.UID, c.Name) {
			status.Active = append(status.Active, p.named(c, e.Job))
		}
		if c.Backfill == "" {
			status = status.startedAt(c.ScheduledTime)
		}
	}
	return status
}

// isKnown reports whether the result of a creation shows that the CronJob has the job.
func (p *Plan) isKnown(e Effect) bool {
	return e.Result == cronjobreason.ResultDone || hasStarted(e) && !p.basis.Quirks.Has(cronjobquirk.NoNamespace)
}

// named returns the reference, and fills in the fields that the adapter left empty.
func (p *Plan) named(c *Creation, ref Reference) Reference {
	if ref.Kind == "" {
		kind := p.basis.Child.orJob()
		ref.Kind, ref.APIVersion = kind.Kind, kind.APIVersion
	}
	if ref.Name == "" {
		ref.Name = c.Name
	}
	if ref.Namespace == "" {
		ref.Namespace = p.Namespace
	}
	return ref
}
