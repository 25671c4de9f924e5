package trace

import (
	"cmp"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// checkVerdict checks the end that a status announces. From the counts of this status, the planner
// must decide the same end, with the job's spec of this version or of the version before.
func (c *checker) checkVerdict(s *jobState, e *event, before *job.Job) {
	if !s.judged || announcedEnd(&before.Status).Type != "" || !before.DeletionTimestamp.IsZero() {
		return
	}
	end := announcedEnd(&s.job.Status)
	if end.Type == "" || c.decides(&s.job, end, &before.Status) {
		return
	}

	older := s.job
	older.Spec = before.Spec
	if !c.decides(&older, end, &before.Status) {
		c.found(finding(e, ruleOfEnd[reasonOf(end)], "", "%s for %s does not follow from what the status counts: %s",
			end.Type, cmp.Or(end.Reason, "no reason"), &s.job.Status))
	}
}

// ruleOfEnd has the rule of each end that the planner can decide from counters, by reason.
var ruleOfEnd = map[string]string{
	"BackoffLimitExceeded":     "J22",
	"DeadlineExceeded":         "J23",
	"MaxFailedIndexesExceeded": "J24",
	"FailedIndexes":            "J24",
	"SuccessPolicy":            "J25",
	"CompletionsReached":       "J26",
}

// announcedEnd returns the condition that announces the end of a job or, without one, the final
// condition. It returns the zero value if there is neither.
func announcedEnd(s *job.Status) job.Condition {
	for _, t := range [...]job.ConditionType{
		job.ConditionSuccessCriteriaMet, job.ConditionFailureTarget, job.ConditionComplete, job.ConditionFailed,
	} {
		if isTrue(s, t) {
			return s.Condition(t)
		}
	}
	return job.Condition{}
}

// decides reports whether the planner decides this end from the counters of the job's status. It
// also returns true for an end that does not follow from counters alone. before is the previous
// status.
func (c *checker) decides(j *job.Job, end job.Condition, before *job.Status) bool {
	// If the uncounted lists are full, more pods may have ended without being listed (J35).
	lists, full := value.Of(j.Status.UncountedTerminatedPods), cmp.Or(int(c.options.Jobs.MaxUncounted), 500)
	isFull := len(lists.Succeeded)+len(lists.Failed) >= full
	if j.Spec.CompletionMode == job.Indexed {
		isFull = isFull || int(j.Status.Succeeded-before.Succeeded)+len(lists.Failed) >= full
	}

	status := j.Status
	status.Conditions, status.UncountedTerminatedPods, status.Active = nil, nil, 0
	status.Terminating, status.Ready = nil, nil
	status.Succeeded += int32(len(lists.Succeeded))
	status.Failed += int32(len(lists.Failed))
	if end.Reason != "BackoffLimitExceeded" {
		status.Failed = 0 // pods that were deleted because of the end also count as failed (J37)
	}

	now := status.StartTime // so that no deadline has passed
	switch reasonOf(end) {
	case "DeadlineExceeded":
		now = end.LastTransitionTime.Add(time.Second) // times are in whole seconds
		status.Succeeded, status.CompletedIndexes, status.FailedIndexes = 0, "", nil
	case "BackoffLimitExceeded":
		// The planner also counts restarts of containers as failures. The status does not show restarts.
		if isFull || j.Spec.Template.RestartPolicy != job.RestartNever {
			return true
		}
		status.CompletedIndexes, status.Succeeded = "", 0
	case "CompletionsReached":
		if isFull {
			return true
		}
		status.FailedIndexes = nil
	case "MaxFailedIndexesExceeded", "FailedIndexes", "SuccessPolicy":
	default:
		return true // a pod or another controller decides this end
	}

	probe := *j
	probe.Status, probe.DeletionTimestamp = status, time.Time{}
	probe.Spec.ManagedBy = nil // each manager decides the same
	plan, err := job.Reconcile(job.Snapshot{
		Job:        probe,
		Now:        now,
		Consistent: true,
		Options:    c.planner(),
	})
	if err != nil {
		return true // the spec is not judged
	}

	recording := plan.Record(job.Writes{})
	return reasonOf(announcedEnd(&recording.Status)) == reasonOf(end)
}

// reasonOf returns the reason of an end. Older releases give no reason for a success.
func reasonOf(end job.Condition) string {
	isSuccess := end.Type == job.ConditionSuccessCriteriaMet || end.Type == job.ConditionComplete
	if isSuccess && end.Reason == "" {
		return "CompletionsReached"
	}
	return end.Reason
}
