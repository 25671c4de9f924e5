package rounds

import (
	"fmt"

	"github.com/batchplan/batchplan/job"
)

// factsOf is what our metrics add to the counters of the reference.
func factsOf(f *job.Metrics, j *job.Job) map[string]float64 {
	out := map[string]float64{}
	add := func(n int32, format string, labels ...any) {
		if n != 0 {
			out[fmt.Sprintf(format, labels...)] += float64(n)
		}
	}
	if f.Action == "" || f.ManagedBy {
		return out
	}
	result := map[bool]string{false: "success", true: "error"}[f.Failed]
	add(1, "job_syncs_total %s %s %s", f.Action, f.CompletionMode, result)
	add(f.PodsSucceeded, "job_pods_finished_total %s succeeded", f.CompletionMode)
	add(f.PodsFailed, "job_pods_finished_total %s failed", f.CompletionMode)
	limit := "global"
	if j.Spec.BackoffLimitPerIndex != nil {
		limit = "perIndex"
	}
	add(f.IndexesSucceeded, "job_finished_indexes_total %s succeeded", limit)
	add(f.IndexesFailed, "job_finished_indexes_total %s failed", limit)
	add(f.Policy.FailJob, "pod_failures_handled_by_failure_policy_total FailJob")
	add(f.Policy.FailIndex, "pod_failures_handled_by_failure_policy_total FailIndex")
	add(f.Policy.Ignore, "pod_failures_handled_by_failure_policy_total Ignore")
	add(f.Policy.Count, "pod_failures_handled_by_failure_policy_total Count")
	add(f.PodsCreated, "job_pods_creation_total %s succeeded", createReasons[f.CreateReason])
	add(f.PodsNotCreated, "job_pods_creation_total %s failed", createReasons[f.CreateReason])
	switch f.Finished {
	case job.Complete:
		add(1, "jobs_finished_total %s %s succeeded", f.CompletionMode, f.FinishedReason)
	case job.Failed:
		add(1, "jobs_finished_total %s %s failed", f.CompletionMode, f.FinishedReason)
	}
	return out
}

var createReasons = map[job.CreateReason]string{
	job.CreateNew:                 "new",
	job.CreateReplacement:         "recreate_terminating_or_failed",
	job.CreateReplacementOfFailed: "recreate_failed",
}
