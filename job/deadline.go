package job

import "time"

// deadline returns the time at which activeDeadlineSeconds have passed (J23), or zero for never. A
// suspended job has no deadline. A deadline beyond the range of time.Duration, 292 years, counts as
// none.
func deadline(spec *Spec, start time.Time) time.Time {
	const longest = int64(1<<63-1) / int64(time.Second)
	seconds := spec.ActiveDeadlineSeconds
	switch {
	case seconds == nil, *seconds > longest, spec.isSuspended(), start.IsZero():
		return time.Time{}
	}
	return start.Add(time.Duration(*seconds) * time.Second)
}

// pastDeadline fails the job once its deadline has passed (J23).
func pastDeadline(due, now time.Time) Verdict {
	if !isOver(due, now) {
		return Verdict{}
	}
	return Verdict{ConditionFailureTarget, "DeadlineExceeded", "Job was active longer than specified deadline"}
}

// startTime returns the time from which the deadline counts: the status's start time, or now in the
// first round that is not suspended (J12).
func startTime(j *Job, now time.Time) time.Time {
	if j.Status.StartTime.IsZero() && !j.Spec.isSuspended() {
		return now
	}
	return j.Status.StartTime
}
