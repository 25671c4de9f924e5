package cronjob

import (
	"cmp"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
)

// trimHistory deletes the oldest finished jobs beyond the limits (C2, CI11).
func (p *Planner) trimHistory() error {
	spec, o := &p.cj.Spec, &p.snap.Options
	p.trim(job.Complete, spec.SuccessfulJobsHistoryLimit, o.KeepSuccessful, DeleteSuccessful)
	p.trim(job.Failed, spec.FailedJobsHistoryLimit, o.KeepFailed, DeleteFailed)
	return p.checkDuplicates()
}

func (p *Planner) trim(finished job.ConditionType, limit *int32, keep time.Duration, reason DeleteReason) {
	if limit == nil && keep == 0 {
		return
	}
	children := p.snap.Children
	p.finished = p.finished[:0]
	for i := range children {
		if c := &children[i]; c.Finished == finished && c.Owner == Owned {
			p.finished = append(p.finished, int32(i))
		}
	}
	surplus := 0
	if limit != nil {
		surplus = max(0, len(p.finished)-int(*limit))
	}
	if surplus > 0 || keep > 0 {
		slices.SortFunc(p.finished, func(a, b int32) int { return byStart(&children[a], &children[b]) })
	}
	for _, i := range p.finished[:surplus] {
		p.deleteFinished(i, reason)
	}
	p.expire(p.finished[surplus:], keep)
}

// deleteFinished deletes a finished job, unless that is under way. A job that the
// status has yet to learn from goes a round later: without it, a crash before the
// status write would start its run again (CI1), lose its success (CI12), or leave a
// missing job in the active list that holds others back until it is looked up (C5).
func (p *Planner) deleteFinished(place int32, reason DeleteReason) {
	c := &p.snap.Children[place]
	switch eager := p.snap.Options.Quirks.Has(cronjobquirk.EagerHistory); {
	case !c.DeletionTimestamp.IsZero() && !eager:
	case !eager && (p.listed[place] || p.canStart(c) || p.isAwaited(c.Name, c.ScheduledTime) || p.isUnrecordedSuccess(c)):
		p.plan.basis.Unfinished = true
	default:
		p.plan.Delete = append(p.plan.Delete, Deletion{Reference: p.reference(c), Reason: reason})
	}
}

// canStart reports whether the schedule would start the run of a job again if the
// job were gone. Runs from before the CronJob was created have jobs only by backfills.
func (p *Planner) canStart(c *Child) bool {
	recorded := p.cj.Status.LastScheduleTime
	if recorded.IsZero() && c.Backfilled {
		recorded = p.cj.CreationTimestamp
	}
	return c.ScheduledTime.After(recorded)
}

// isUnrecordedSuccess reports whether the job moves lastSuccessfulTime.
func (p *Planner) isUnrecordedSuccess(c *Child) bool {
	return c.Finished == job.Complete && c.CompletionTime.After(p.cj.Status.LastSuccessfulTime) &&
		!c.CompletionTime.Before(p.plan.basis.Status.LastSuccessfulTime)
}

// byStart orders jobs by start time, those without one last, then by name: the
// order in which the history forgets them.
func byStart(a, b *Child) int {
	if noA, noB := a.StartTime.IsZero(), b.StartTime.IsZero(); noA != noB {
		if noA {
			return 1
		}
		return -1
	}
	return cmp.Or(a.StartTime.Compare(b.StartTime), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}

// checkDuplicates refuses two deletions of one UID: the children name it twice.
func (p *Planner) checkDuplicates() error {
	if len(p.plan.Delete) < 2 {
		return nil
	}
	seen := make(map[string]bool, len(p.plan.Delete))
	for i := range p.plan.Delete {
		d := &p.plan.Delete[i]
		if seen[d.UID] {
			return invalid("children["+d.Name+"].uid", d.UID, "is the UID of two jobs")
		}
		seen[d.UID] = true
	}
	return nil
}
