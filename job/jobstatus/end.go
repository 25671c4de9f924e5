package jobstatus

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/internal/jobrules"
	"github.com/batchplan/batchplan/internal/problems"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// Announce returns the status with the condition that tells how the job is going to end,
// SuccessCriteriaMet or FailureTarget. An end that is already announced is kept. Servers whose
// gates JobManagedBy and JobPodReplacementPolicy are off accept SuccessCriteriaMet only with a
// successPolicy. For such a server, Announce announces no other success. It returns an error if the
// verdict has another type, or if the status announces the other end.
func Announce(s job.Status, spec job.Spec, end job.Verdict, at time.Time, r release.Release) (job.Status, error) {
	other := job.ConditionFailureTarget
	switch end.Type {
	case job.ConditionSuccessCriteriaMet:
	case job.ConditionFailureTarget:
		other = job.ConditionSuccessCriteriaMet
	default:
		return job.Status{}, problems.New[job.InputError]("end.type", string(end.Type),
			"must be SuccessCriteriaMet or FailureTarget")
	}
	if isTrue(&s, other) {
		return job.Status{}, problems.New[job.InputError]("status."+conditionField(other), "True",
			fmt.Sprintf("excludes %s", end.Type))
	}

	byPolicy := spec.SuccessPolicy != nil && isIndexed(&spec)
	silent := end.Type == job.ConditionSuccessCriteriaMet && jobrules.EndsWithoutNotice(r.Off()) && !byPolicy
	if silent || isTrue(&s, end.Type) {
		return s, nil
	}
	s.Conditions = with(s.Conditions, holds(end.Type, end), at)
	return s, nil
}

// holds returns a condition of type t that is True, with the reason and the message of the verdict.
func holds(t job.ConditionType, end job.Verdict) job.Condition {
	return job.Condition{Type: t, Status: job.ConditionTrue, Reason: end.Reason, Message: end.Message}
}

// Finish returns the status of a job that has ended: with the condition that announces the end, and
// with Complete or Failed. It sets completionTime with Complete, and startTime if there is none. An
// API server of the release accepts the change, whether or not the end was announced before.
//
// It returns an error if pods are active or terminating, or if UIDs are not counted yet. A status
// that has ended is returned unchanged.
func Finish(s job.Status, spec job.Spec, end job.Verdict, at time.Time, r release.Release) (job.Status, error) {
	if s.Finished() != "" {
		return s, nil
	}

	next, err := Announce(s, spec, end, at, r)
	if err != nil {
		return job.Status{}, err
	}
	if c := next.Condition(end.Type); c.Type != "" {
		end.Reason, end.Message = c.Reason, c.Message // as announced (J38)
	}

	if next.StartTime.IsZero() {
		next.StartTime = at
	}
	final := job.ConditionFailed
	if end.Type == job.ConditionSuccessCriteriaMet {
		final = job.ConditionComplete
		next.CompletionTime = jobrules.CompletionTime(next.StartTime, at)
	}

	next.Conditions = with(next.Conditions, holds(final, end), at)
	return next, problems.Join[job.InputError]("status.", checkFinished(&next, &spec))
}
