package job

import (
	"cmp"
	"time"
)

// Expire reports whether a finished job is to be deleted because ttlSecondsAfterFinished have
// passed (T1, T2). The result at is the time at which the job expires, past or future; zero means
// never. Before deleting, re-read the job from the source of truth and call Expire again (T4).
// Delete the job with its pods, on condition of its UID.
//
// An error means that the job has finished at an unknown time (T3). If the finish time lies in the
// future, set by another machine's clock, the job expires later.
func Expire(j *Job, o Options, now time.Time) (expired bool, at time.Time, err error) {
	finished := j.Status.Finished()
	ttl := j.Spec.TTLSecondsAfterFinished
	switch finished {
	case ConditionComplete:
		ttl = cmp.Or(o.TTLSecondsAfterComplete, ttl)
	case ConditionFailed:
		ttl = cmp.Or(o.TTLSecondsAfterFailed, ttl)
	default:
		return false, time.Time{}, nil
	}
	if ttl == nil || j.isDeleted() {
		return false, time.Time{}, nil
	}

	since := j.Status.Condition(finished).LastTransitionTime
	if since.IsZero() {
		field := "status.conditions[" + string(finished) + "].lastTransitionTime"
		return false, time.Time{}, invalid(field, "", "is required to expire the job")
	}
	due := since.Add(time.Duration(max(*ttl, 0)) * time.Second)
	return !now.Before(due), due, nil
}
