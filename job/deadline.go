package job

import "time"

// deadline is when activeDeadlineSeconds have passed (J23), or zero for never. A
// suspended job has no deadline. One that is further away than a time.Duration reaches,
// 292 years, never comes.
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

// startTime is the time from which the deadline counts: the status's start time, or now
// in the first round that is not suspended (J12).
func startTime(j *Job, now time.Time) time.Time {
	if j.Status.StartTime.IsZero() && !j.Spec.isSuspended() {
		return now
	}
	return j.Status.StartTime
}
