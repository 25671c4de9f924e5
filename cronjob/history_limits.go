package cronjob

import (
	"cmp"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// trimHistory deletes the oldest finished jobs beyond the limits (C2, CI11), and those
// that are older than the options keep them.
func trimHistory(s *Snapshot, c *census, b *buffers) trimming {
	spec, o := &s.CronJob.Spec, &s.Options
	successful := history{Complete, spec.SuccessfulJobsHistoryLimit, o.KeepSuccessful, cronjobreason.DeleteSuccessful}
	failed := history{Failed, failedLimit(s), o.KeepFailed, cronjobreason.DeleteFailed}

	out := trimming{kept: endOfRow(s, c.lastSuccess)}
	out = trim(s, c, b, successful, out)
	return trim(s, c, b, failed, out)
}

// history is which finished jobs are kept.
type history struct {
	finished Ending
	limit    *int32        // nil keeps all
	keep     time.Duration // zero means without end
	reason   cronjobreason.Delete
}

// trimming is what the history does.
type trimming struct {
	moves
	// unrecorded are the runs of backfills whose jobs are deleted once the status tells that the
	// runs have started.
	unrecorded []time.Time
	// kept is the success that is not deleted, if there is one (C19).
	kept *Child
}

// trim deletes the finished jobs of one kind that are not kept.
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

// surplus returns how many of the finished jobs are beyond the limit.
func surplus(finished int, limit *int32) int {
	if limit == nil {
		return 0
	}
	return max(0, finished-int(*limit))
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
func deleteFinished(s *Snapshot, c *census, place int, reason cronjobreason.Delete, out trimming) trimming {
	child := &s.Children[place]
	switch {
	case s.Options.Quirks.Has(cronjobquirk.EagerHistory):
	case child.isDeleted():
		return out
	case c.isNeeded(place, &s.CronJob):
		out.unfinished = true
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
	if s.Options.PauseAfterFailures > 0 && child.keptAs() == Failed { // without it a pause may be over
		out.waits = append(out.waits, Wait{Reason: cronjobreason.WaitHistory, Until: s.Now.Add(aMoment)})
	}
	return out
}

// isNeeded reports whether the status has yet to learn from a finished job. Without the
// job, a crash before the status write would start its run again (CI1), lose its success
// (CI12), or leave a missing job in the active list that holds others back until it is
// looked up (C5).
func (c *census) isNeeded(place int, cronJob *CronJob) bool {
	child := &c.children[place]
	switch {
	case c.verdicts[place] == childEndedNamed,
		canStart(child, cronJob),
		c.isAwaited(child.Name, child.ScheduledTime):
		return true
	case child.isOwnSuccess(): // it moves lastSuccessfulTime to its new value
		at := child.CompletionTime
		return at.After(cronJob.Status.LastSuccessfulTime) && !at.Before(c.lastSuccess)
	}
	return false
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

// lastBackfilled returns the latest of these runs that a backfill has started and before which the
// schedule has no run left to start. Recording it takes nothing from the schedule, and then the
// history may delete its job (C2). Zero means none. If runs remain, it also returns when the schedule
// gives up the run that it has left: zero means at no known time.
func (c *census) lastBackfilled(s *Snapshot, base time.Time, runs []time.Time) (last, next time.Time) {
	if len(runs) == 0 || s.Schedule.Problem != "" {
		return last, next
	}

	until, givenUp := c.nothingLeftBefore(s, base)
	for _, run := range runs {
		if run.After(until) {
			next = givenUp
		} else {
			last = later(last, run)
		}
	}
	return last, next
}

// appendUnreached adds that a job is kept until its run can be recorded: a backfill has started it, and
// then the clock went back, or the schedule has an older run left to start and gives it up at the time next.
func appendUnreached(waits []Wait, s *Snapshot, runs []time.Time, next time.Time) []Wait {
	delay := jitterOf(s)
	for _, run := range runs {
		until := run // a backfill waits for no jitter
		if !run.After(s.Now) {
			until = delay.startOf(run)
		}
		if until.After(s.Now) {
			waits = append(waits, Wait{Reason: cronjobreason.WaitHistory, Until: until})
		}
	}

	if !next.IsZero() {
		waits = append(waits, Wait{Reason: cronjobreason.WaitHistory, Until: next})
	}
	return waits
}

// nothingLeftBefore returns a time before which the schedule starts no run any more: the first run
// without a job that CatchUpAll may make up, or else the latest run that is due. It also returns when that
// run is given up, if it does not start before: at its deadline, or when a later run puts it beyond the limit.
func (c *census) nothingLeftBefore(s *Snapshot, base time.Time) (until, givenUp time.Time) {
	until = s.Now // a backfill waits for no jitter
	if s.Options.CatchUp != CatchUpAll {
		return until, givenUp
	}

	earliest := base
	d, bounded := startingDeadline(&s.CronJob.Spec, &s.Options)
	if bounded {
		earliest = later(earliest, s.Now.Add(-d))
	}

	due := pickDue(s.Schedule.Schedule, earliest, until, &s.Options)
	first := due.due

	hasJob := c.jobNamed(maxLook)
	for range maxLook {
		if isBeyond(first, until) {
			return until, givenUp
		}
		if !hasJob(c.names.of(first).String()) {
			break
		}
		first = s.Schedule.Schedule.Next(first)
	}

	if bounded {
		givenUp = first.Add(d)
	}
	if due.overdue >= s.Options.catchUpLimit() {
		givenUp = sooner(givenUp, s.Schedule.Schedule.Next(s.Now))
	}
	return first, givenUp
}
