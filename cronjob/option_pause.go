package cronjob

import "time"

// isPaused applies Options.PauseAfterFailures (C19): after PauseAfterFailures failures in a row no
// run starts. The pause ends with a success, which may be a trigger's job, with an edit of the
// spec, or when failed jobs are deleted, by hand or for their age (KeepFailed). Until then a due
// run waits, like one that Forbid holds back. A child of another kind also counts as a failure if
// the limit of failed jobs applies to it ([Child].KeptAs).
func isPaused(s *Snapshot, c *census) (failures int, paused bool) {
	limit := int(s.Options.PauseAfterFailures)
	if limit == 0 {
		return 0, false
	}
	failures = failuresSince(s.Children, later(c.lastSuccess, s.CronJob.SpecChanged))
	return failures, failures >= limit
}

// failuresSince counts the jobs that have failed after a time.
func failuresSince(children []Child, since time.Time) (n int) {
	for i := range children {
		if c := &children[i]; c.isKeptAs(Failed) && c.FinishTime.After(since) {
			n++
		}
	}
	return n
}

// endOfRow returns the job of the last success if it must be kept: failed jobs from before that
// success still exist, and nothing but this job shows the success (C18). Without this job, the
// failed jobs would count as failures in a row again. If several jobs were completed at the same
// time, endOfRow returns the one that the history deletes last.
func endOfRow(s *Snapshot, lastSuccess time.Time) (success *Child) {
	switch {
	case s.Options.PauseAfterFailures == 0, !s.Options.SuccessFromChildren, lastSuccess.IsZero():
		return nil
	}

	edited := s.CronJob.SpecChanged
	if failuresSince(s.Children, edited) == failuresSince(s.Children, later(lastSuccess, edited)) {
		return nil
	}

	for i := range s.Children {
		c := &s.Children[i]
		switch {
		case !c.isOwnSuccess(), c.isDeleted(), !c.CompletionTime.Equal(lastSuccess):
		case success == nil, byStart(c, success) > 0:
			success = c
		}
	}
	return success
}

// failedLimit returns the number of failed jobs that the history keeps; nil means all. It is never
// less than Options.PauseAfterFailures, because the pause depends on these jobs.
func failedLimit(s *Snapshot) *int32 {
	limit, n := s.CronJob.Spec.FailedJobsHistoryLimit, s.Options.PauseAfterFailures
	if limit == nil || *limit >= n {
		return limit
	}
	return &n
}
