package trace

import (
	"cmp"
	"reflect"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// row is what the log has shown about the jobs of a CronJob, including those that are gone.
type row struct {
	// jobs are those that the log has shown.
	jobs map[digest]bool
	// isWhole is true once a status has named only jobs that the log has shown. isSpoilt is true once
	// the log may lack some jobs.
	isWhole, isSpoilt bool
	epoch             int
	// completed is the latest completion.
	completed time.Time
	// youngest is the latest start time of the jobs that were deleted lately, and at is the time of
	// the last deletion. When no job was deleted for two minutes (settled), older deletions are
	// forgotten.
	youngest, at time.Time
}

// rowed adds a job to the row of its CronJob.
func (c *checker) rowed(cron *cronState, s *jobState, e *event, isNew bool) {
	cron.row.jobs[digestOf(s.uid)] = true
	cron.row.isSpoilt = cron.row.isSpoilt || e.audited || !isNew
}

// left notes that a job is gone. If the log has not shown that the job ended, events may be
// missing.
func (r *row) left(s *jobState, now time.Time) {
	r.isSpoilt = r.isSpoilt || s.job.Status.Finished() == ""
	if start := s.job.Status.StartTime; start.After(r.youngest) || r.at.Add(settled).Before(now) {
		r.youngest = start
	}
	r.at = now
}

// noteCompletion notes the completion of a CronJob's job.
func (c *checker) noteCompletion(s *jobState) {
	cron := c.cronJobs[s.cronJob]
	if cron == nil || s.job.Status.Finished() != job.ConditionComplete {
		return
	}
	for _, at := range [...]time.Time{
		s.job.Status.CompletionTime, s.job.Status.Condition(job.ConditionComplete).LastTransitionTime,
	} {
		if at.After(cron.row.completed) {
			cron.row.completed = at
		}
	}
}

// checkRow checks the active jobs and lastSuccessfulTime in a status of a CronJob, if the log has
// shown all jobs since the creation of the CronJob.
func (c *checker) checkRow(s *cronState, e *event, before *cronjob.CronJob, how step) {
	r := &s.row
	if how == isFirst {
		hasNoStatus := reflect.DeepEqual(s.cronJob.Status, cronjob.Status{})
		isNew := e.change == isAdded && e.meta.Generation == 1 && hasNoStatus
		mayMiss := e.audited || c.options.Incomplete
		r.epoch, r.isSpoilt = c.epoch[kindJob], r.isSpoilt || mayMiss || !isNew
		return
	}
	if how != isNext || r.isSpoilt || r.epoch != c.epoch[kindJob] {
		r.isSpoilt = true
		return
	}

	was := map[job.UID]bool{}
	for _, ref := range before.Status.Active {
		was[ref.UID] = true
	}
	for _, ref := range s.cronJob.Status.Active {
		if was[ref.UID] || r.jobs[digestOf(ref.UID)] {
			continue
		}
		if r.isWhole {
			c.found(finding(e, "CI5", unlessChosen, "status.active has %s with UID %s, and no job has had it",
				ref.Name, ref.UID))
		}
		r.isSpoilt = true
		return
	}
	r.isWhole = r.isWhole || len(s.cronJob.Status.Active) > 0

	last := s.cronJob.Status.LastSuccessfulTime
	if r.isWhole && last.After(before.Status.LastSuccessfulTime) && last.After(r.completed) {
		c.found(finding(e, "CI12", unlessChosen, "status.lastSuccessfulTime is %s, and the last job completed at %s",
			value.Time(last), value.Time(r.completed)))
	}
}

// checkTrimmed checks a job whose deletion begins. While the history is longer than its limit, the
// oldest jobs must be deleted first. A job with a time to live is not judged. A watch with a selector
// also shows a deletion if the job no longer matches.
func (c *checker) checkTrimmed(s *jobState, e *event) {
	if s == nil || !s.job.DeletionTimestamp.IsZero() && e.change == isDeleted {
		return // the deletion began before
	}
	cron := c.cronJobs[s.cronJob]
	end := s.job.Status.Condition(s.job.Status.Finished())
	hasTTL := s.job.Spec.TTLSecondsAfterFinished != nil
	switch {
	case cron == nil || !c.isCertain(&cron.seen):
		return
	case !cron.cronJob.DeletionTimestamp.IsZero():
		return // the garbage collector deletes the jobs, in any order
	case end.Type == "" || hasTTL || e.audited:
		return
	}

	spec := &cron.specs[0]
	limit := spec.SuccessfulJobsHistoryLimit
	if end.Type == job.ConditionFailed {
		limit = spec.FailedJobsHistoryLimit
	}

	isEdited := cron.editedBy.IsZero() || c.clock.Before(cron.editedBy.Add(settled))
	start := s.job.Status.StartTime
	isShadowed := !cron.row.youngest.Before(start) && !cron.row.at.Add(settled).Before(c.clock)
	isUnlimited := limit == nil || start.IsZero()
	if isUnlimited || isEdited || isShadowed {
		return
	}

	// older counts the older jobs with the same outcome. Only jobs count that ended so long ago
	// that the controller must know of it.
	finished, older, oldest := 0, 0, (*jobState)(nil)
	for _, other := range cron.children {
		status := &other.job.Status
		its := status.Condition(status.Finished())
		if its.Type != end.Type {
			continue
		}
		finished++

		ended, began := its.LastTransitionTime, status.StartTime
		isSettled := ended.Add(settled).Before(c.clock) && ended.Before(end.LastTransitionTime)
		isOlder := !began.IsZero() && began.Before(start)
		isThere := c.isCertain(&other.seen) && other.job.DeletionTimestamp.IsZero()
		if isSettled && isOlder && isThere {
			older++
			if oldest == nil || isBefore(other, oldest) {
				oldest = other
			}
		}
	}

	surplus := finished - int(*limit)
	if surplus > 0 && older >= surplus {
		unless := unlessDeleted
		if s.job.DeletionTimestamp.IsZero() {
			unless += ", or " + unlessChosen
		}
		c.found(finding(e, "CI11", unless,
			"is deleted before job %s, while the history of CronJob %s is %d too long",
			oldest.name, cron.name, surplus))
	}
}

// isBefore reports whether a job has started before another. If both have started at the same time,
// the name decides.
func isBefore(s, other *jobState) bool {
	return cmp.Or(s.job.Status.StartTime.Compare(other.job.Status.StartTime), cmp.Compare(s.name, other.name)) < 0
}
