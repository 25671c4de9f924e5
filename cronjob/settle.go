package cronjob

import (
	"slices"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
)

// Settlement is the status of a round.
type Settlement struct {
	Status Status
	// Write is false when nothing has changed.
	Write bool
}

// Settle returns the status to write after everything else, once a round (C15):
// jobs that are gone or deleted leave the active list (C4, C5, C12), jobs that
// were created or found enter it and move lastScheduleTime (C14). The outcome must
// hold all results but Settled.
func (p *Plan) Settle(o Outcome) Settlement {
	b := &p.basis
	status := b.Status
	if gone := p.gone(&o); len(gone) > 0 {
		status.Active = slices.DeleteFunc(slices.Clone(status.Active), func(r Reference) bool { return gone[r.UID] })
	}
	p.recordStarts(&status, &o)
	return Settlement{Status: status, Write: p.CronJobUID != "" && !equalStatus(&b.Before, &status)}
}

// gone are the UIDs that leave the active list.
func (p *Plan) gone(o *Outcome) map[string]bool {
	if len(p.Verify)+len(p.Delete) == 0 {
		return nil
	}
	uids := make(map[string]bool)
	for i := range p.Verify {
		if uid := p.Verify[i].UID; uid != "" && resultAt(o.Verified, i) == Gone {
			uids[uid] = true
		}
	}
	for i := range p.Delete {
		if isDeleted(effectAt(o.Deleted, i).Result) {
			uids[p.Delete[i].UID] = true
		}
	}
	return uids
}

// recordStarts takes the jobs that were created or found into the status. A job that it
// names already came with its time.
func (p *Plan) recordStarts(status *Status, o *Outcome) {
	if len(p.Create) == 0 {
		return
	}
	isNamed := memberOf(status.Active, len(p.Create))
	status.Active = slices.Clip(status.Active)
	for i := range p.Create {
		c, e := &p.Create[i], effectAt(o.Created, i)
		if e.Result != Done && (e.Result != AlreadyExists || p.basis.Quirks.Has(cronjobquirk.BlindCreate)) {
			continue
		}
		if !isNamed(e.Job.UID, c.Name) {
			status.Active = append(status.Active, p.named(c, e.Job))
		}
		if c.Backfill == "" && c.ScheduledTime.After(status.LastScheduleTime) {
			status.LastScheduleTime = c.ScheduledTime
		}
	}
}

// named fills what an adapter left out of a reference.
func (p *Plan) named(c *Creation, ref Reference) Reference {
	if ref.Kind == "" {
		ref.Kind, ref.APIVersion = "Job", "batch/v1"
	}
	if ref.Name == "" {
		ref.Name, ref.Namespace = c.Name, p.Namespace
	}
	return ref
}
