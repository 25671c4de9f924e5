package cronjob

import "slices"

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
	b := &p.Basis
	status := b.Status
	if gone := p.gone(&o); len(gone) > 0 {
		status.Active = slices.DeleteFunc(slices.Clone(status.Active), func(r Reference) bool {
			return slices.Contains(gone, r.UID)
		})
	}
	for i := range p.Create {
		e := effectAt(o.Created, i)
		if e.Result == Done || e.Result == AlreadyExists {
			p.recordStart(&status, &p.Create[i], &e)
		}
	}
	return Settlement{Status: status, Write: b.CronJobUID != "" && !equalStatus(&b.Before, &status)}
}

// gone lists the UIDs that leave the active list.
func (p *Plan) gone(o *Outcome) []string {
	var uids []string
	for i := range p.Verify {
		if resultAt(o.Verified, i) == Gone {
			uids = append(uids, p.Verify[i].UID)
		}
	}
	for i := range p.Delete {
		if isDeleted(effectAt(o.Deleted, i).Result) {
			uids = append(uids, p.Delete[i].UID)
		}
	}
	return uids
}

// recordStart takes a job into the status. A job that stands there already came
// with its time.
func (p *Plan) recordStart(status *Status, c *Creation, e *Effect) {
	if e.Result == AlreadyExists && p.Basis.Slips.has(SlipBlindCreate) {
		return
	}
	if !status.has(e.Job.UID) {
		status.Active = append(slices.Clip(status.Active), p.named(c, e.Job))
	}
	if c.Backfill == "" && c.ScheduledTime.After(status.LastScheduleTime) {
		status.LastScheduleTime = c.ScheduledTime
	}
}

// named fills what an adapter left out of a reference.
func (p *Plan) named(c *Creation, ref Reference) Reference {
	if ref.Kind == "" {
		ref.Kind, ref.APIVersion = "Job", "batch/v1"
	}
	if ref.Name == "" {
		ref.Name, ref.Namespace = c.Name, p.Basis.Namespace
	}
	return ref
}
