package cronjob

import (
	"cmp"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// trimHistory deletes the oldest finished jobs beyond the limits (C2, CI11), and those that are
// older than the options allow. Runs up to argument base do not start any more.
func trimHistory(s *Snapshot, c *census, w *window, base time.Time, b *buffers) moves {
	spec, o := &s.CronJob.Spec, &s.Options
	successful := history{Complete, spec.SuccessfulJobsHistoryLimit, o.KeepSuccessful, cronjobreason.DeleteSuccessful}
	failed := history{Failed, failedLimit(s), o.KeepFailed, cronjobreason.DeleteFailed}

	out := trimming{kept: endOfRow(s, c.lastSuccess)}
	out = trim(s, c, b, successful, out)
	out = trim(s, c, b, failed, out)
	if len(out.unrecorded) > 0 {
		out.add(recordBackfilled(s, c, w, base, out.unrecorded))
	}
	return out.moves
}

// history holds the limits for finished jobs of one ending.
type history struct {
	finished Ending
	limit    *int32        // nil means no limit
	keep     time.Duration // maximal age; zero means no limit
	reason   cronjobreason.Delete
}

// trimming holds the moves of the history limits.
type trimming struct {
	moves
	// unrecorded are runs of backfills that must be recorded before their jobs can be deleted.
	unrecorded []time.Time
	// kept is a successful job that must be kept, or nil (C19).
	kept *Child
}

// trim deletes the finished jobs of one ending that exceed the limits.
func trim(s *Snapshot, c *census, b *buffers, h history, out trimming) trimming {
	finished := b.finished[:0]
	for i := range s.Children {
		if s.Children[i].isKeptAs(h.finished) {
			finished = append(finished, int32(i))
		}
	}
	b.finished = finished

	n := surplus(len(finished), h.limit)
	if n == 0 && h.keep == 0 {
		return out
	}
	slices.SortFunc(finished, func(a, b int32) int { return byStart(&s.Children[a], &s.Children[b]) })

	for _, place := range finished[:n] {
		out = deleteFinished(s, c, int(place), h.reason, out)
	}
	if h.keep > 0 {
		out = expireFinished(s, c, finished[n:], h.keep, out)
	}
	return out
}

// surplus returns the number of finished jobs beyond the limit.
func surplus(finished int, limit *int32) int {
	if limit == nil {
		return 0
	}
	return max(0, finished-int(*limit))
}

// byStart compares jobs by start time, then by name; jobs without a start time are last. The
// history deletes jobs in this order.
func byStart(a, b *Child) int {
	if noA, noB := a.StartTime.IsZero(), b.StartTime.IsZero(); noA != noB {
		if noA {
			return 1
		}
		return -1
	}
	return cmp.Or(a.StartTime.Compare(b.StartTime), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}

// deleteFinished deletes a finished job, unless the job is already being deleted. A job that the
// status still depends on is deleted in a later round.
func deleteFinished(s *Snapshot, c *census, place int, reason cronjobreason.Delete, out trimming) trimming {
	child := &s.Children[place]
	switch {
	case s.Options.Quirks.Has(cronjobquirk.EagerHistory):
	case child.isDeleted():
		return out
	case c.isNeeded(place, &s.CronJob):
		out.Unfinished = true
		if child.Backfilled && canStart(child, &s.CronJob) {
			out.unrecorded = append(out.unrecorded, child.ScheduledTime)
		}
		return out
	case child == out.kept, child.Backfilled:
	case c.isUnaccounted(child.ScheduledTime):
		out.waits = append(out.waits, Wait{Reason: cronjobreason.WaitHistory, Until: s.Now.Add(aMoment)})
		return out
	}

	if child == out.kept {
		return out
	}
	out.remove = append(out.remove, Deletion{Reference: c.reference(place), Reason: reason})
	if s.Options.PauseAfterFailures > 0 && child.keptAs() == Failed { // without this failed job a pause may end
		out.waits = append(out.waits, Wait{Reason: cronjobreason.WaitHistory, Until: s.Now.Add(aMoment)})
	}
	return out
}

// isNeeded reports whether a finished job must stay until the status is written. If it were deleted
// first, a crash before the status write would start its run again (CI1), lose its success (CI12),
// or leave the deleted job in the active list, where it holds runs back until it is looked up (C5).
func (c *census) isNeeded(place int, cronJob *CronJob) bool {
	child := &c.children[place]
	switch {
	case c.verdicts[place] == childEndedNamed,
		canStart(child, cronJob),
		c.isAwaited(child.Name, child.ScheduledTime):
		return true
	case child.isOwnSuccess(): // it determines the new lastSuccessfulTime
		at := child.CompletionTime
		return at.After(cronJob.Status.LastSuccessfulTime) && !at.Before(c.lastSuccess)
	}
	return false
}

// canStart reports whether the schedule would start the run of a job again if the job were deleted.
// The schedule never starts runs from before the CronJob's creation; only backfills do.
func canStart(c *Child, cronJob *CronJob) bool {
	recorded := cronJob.Status.LastScheduleTime
	if recorded.IsZero() && c.Backfilled {
		recorded = cronJob.CreationTimestamp
	}
	return c.ScheduledTime.After(recorded)
}

// checkDuplicates returns an error if two deletions have the same UID. Then two children have that
// UID.
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
