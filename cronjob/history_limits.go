package cronjob

import (
	"cmp"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
)

// trimHistory deletes the oldest finished jobs beyond the limits (C2, CI11), and those
// that are older than the options keep them.
func (p *Planner) trimHistory(plan *Plan, s *Snapshot, c *census) error {
	spec, o := &s.CronJob.Spec, &s.Options
	p.trim(plan, s, c, &history{job.ConditionComplete, spec.SuccessfulJobsHistoryLimit, o.KeepSuccessful, DeleteSuccessful})
	p.trim(plan, s, c, &history{job.ConditionFailed, spec.FailedJobsHistoryLimit, o.KeepFailed, DeleteFailed})
	return checkDuplicates(plan.Delete)
}

// trim deletes the finished jobs of one kind that are not kept.
func (p *Planner) trim(plan *Plan, s *Snapshot, c *census, h *history) {
	if h.limit == nil && h.keep == 0 {
		return
	}
	p.finished = appendFinished(p.finished[:0], s.Children, h.finished)
	n := h.surplus(len(p.finished))
	if n > 0 || h.keep > 0 {
		slices.SortFunc(p.finished, func(a, b int32) int { return byStart(&s.Children[a], &s.Children[b]) })
	}
	for _, place := range p.finished[:n] {
		deleteFinished(plan, s, c, int(place), h.reason)
	}
	if h.keep > 0 {
		expireFinished(plan, s, c, p.finished[n:], h.keep)
	}
}

// history is which finished jobs are kept.
type history struct {
	finished job.ConditionType
	limit    *int32        // nil keeps all
	keep     time.Duration // zero means without end
	reason   DeleteReason
}

// appendFinished appends the places of the children that have finished in this way.
func appendFinished(places []int32, children []Child, how job.ConditionType) []int32 {
	for i := range children {
		if c := &children[i]; c.Finished == how && !c.Foreign {
			places = append(places, int32(i))
		}
	}
	return places
}

// surplus returns how many of the finished jobs are beyond the limit.
func (h *history) surplus(finished int) int {
	if h.limit == nil {
		return 0
	}
	return max(0, finished-int(*h.limit))
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

// deleteFinished deletes a finished job, unless that is under way. If the status has yet
// to learn from the job, it goes a round later.
func deleteFinished(plan *Plan, s *Snapshot, c *census, place int, reason DeleteReason) {
	child, eager := &s.Children[place], s.Options.Quirks.Has(cronjobquirk.EagerHistory)
	switch {
	case !child.DeletionTimestamp.IsZero() && !eager:
	case c.isNeeded(place, &s.CronJob, plan.basis.Status.LastSuccessfulTime) && !eager:
		plan.basis.Unfinished = true
	default:
		plan.Delete = append(plan.Delete, Deletion{Reference: c.reference(place), Reason: reason})
	}
}

// isNeeded reports whether the status has yet to learn from a finished job. Without the
// job, a crash before the status write would start its run again (CI1), lose its success
// (CI12), or leave a missing job in the active list that holds others back until it is
// looked up (C5).
func (c *census) isNeeded(place int, cronJob *CronJob, lastSuccess time.Time) bool {
	child := &c.children[place]
	return c.listed[place] || canStart(child, cronJob) || c.isAwaited(child.Name, child.ScheduledTime) ||
		isUnrecordedSuccess(child, cronJob, lastSuccess)
}

// canStart reports whether the schedule would start the run of a job again if the
// job were gone. Runs from before the CronJob was created have jobs only by backfills.
func canStart(c *Child, cronJob *CronJob) bool {
	recorded := cronJob.Status.LastScheduleTime
	if recorded.IsZero() && c.Backfilled {
		recorded = cronJob.CreationTimestamp
	}
	return c.ScheduledTime.After(recorded)
}

// isUnrecordedSuccess reports whether the job moves lastSuccessfulTime to its new value.
func isUnrecordedSuccess(c *Child, cronJob *CronJob, lastSuccess time.Time) bool {
	return c.Finished == job.ConditionComplete && c.CompletionTime.After(cronJob.Status.LastSuccessfulTime) &&
		!c.CompletionTime.Before(lastSuccess)
}

// checkDuplicates refuses two deletions of one UID, which two children of one UID cause.
func checkDuplicates(all []Deletion) error {
	if len(all) < 2 {
		return nil
	}
	seen := make(map[job.UID]bool, len(all))
	for i := range all {
		d := &all[i]
		if seen[d.UID] {
			return invalid("children["+d.Name+"].uid", string(d.UID), "is the UID of two jobs")
		}
		seen[d.UID] = true
	}
	return nil
}
