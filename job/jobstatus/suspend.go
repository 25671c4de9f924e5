package jobstatus

import (
	"time"

	"github.com/batchplan/batchplan/internal/jobrules"
	"github.com/batchplan/batchplan/internal/problems"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// Suspend returns the status of a job that is suspended: with the condition, and without startTime
// (J39). startTime stays if the gate MutableSchedulingDirectivesForSuspendedJobs is off, which is
// the default before 1.36. It returns an error if spec.suspend is not set, or if the end is
// announced.
func Suspend(s job.Status, spec job.Spec, at time.Time, r release.Release) (job.Status, error) {
	if !value.Of(spec.Suspend) {
		return job.Status{}, problems.New[job.InputError]("spec.suspend", false,
			"must be true: the server refuses to take the startTime of a job that runs")
	}
	return turn(s, true, at, r)
}

// Resume returns the status of a job that runs again, with a new startTime. It returns an error if
// spec.suspend is set, or if the end is announced. In 1.31 with JobManagedBy, an existing startTime
// stays, because the server refuses to change it.
func Resume(s job.Status, spec job.Spec, at time.Time, r release.Release) (job.Status, error) {
	if value.Of(spec.Suspend) {
		return job.Status{}, problems.New[job.InputError]("spec.suspend", true, "must be false")
	}

	start := s.StartTime
	next, err := turn(s, false, at, r)
	if !start.IsZero() && r.IsBefore(release.V132()) && r.Has(release.JobManagedBy) {
		next.StartTime = start
	}
	return next, err
}

// turn sets the condition Suspended, unless it is right already.
func turn(s job.Status, suspend bool, at time.Time, r release.Release) (job.Status, error) {
	for _, t := range [...]job.ConditionType{job.ConditionSuccessCriteriaMet, job.ConditionFailureTarget} {
		if isTrue(&s, t) {
			return job.Status{}, problems.New[job.InputError]("status."+conditionField(t), "True",
				"a job that is ending is neither suspended nor resumed")
		}
	}
	if suspended := s.Condition(job.ConditionSuspended).Status == job.ConditionTrue; suspended == suspend {
		return s, nil
	}

	status, reason, message := jobrules.Suspension(suspend)
	s.Conditions = with(s.Conditions, job.Condition{
		Type:    job.ConditionSuspended,
		Status:  job.ConditionStatus(status),
		Reason:  reason,
		Message: message,
	}, at)
	s.StartTime = jobrules.StartTime(s.StartTime, at, suspend, r.Off())
	return s, nil
}
