package job

import (
	"cmp"
	"time"
)

// Expire decides whether a finished job is to be deleted, with its pods and on
// condition of its UID, because ttlSecondsAfterFinished have passed (T1, T2). The time
// at which it expires is at, also if that has come; zero means never. Before deleting,
// re-read the job from the source of truth and ask again (T4).
//
// An error means that the job has finished at an unknown time (T3). A finish
// time in the future, by another machine's clock, just waits.
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
