package job_test

import (
	"testing"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/kit/world"
)

// TestJ5_CompletionMode: a job without a mode is NonIndexed, and one with a mode that this
// version does not know is left alone.
func TestJ5_CompletionMode(t *testing.T) {
	s := world.NewJob(job.Spec{Completions: ptr[int32](1), Parallelism: ptr[int32](1)}).Snapshot()
	s.Job.Spec.CompletionMode = ""
	plan, err := job.Reconcile(s)
	if err != nil || len(plan.Create) != 1 {
		t.Errorf("no mode: error %v\n%s", err, plan.String())
	}
	s.Job.Spec.CompletionMode = "Sorted"
	s.Pods = []job.Pod{{Name: "a", UID: "a", Phase: job.PodFailed, Index: job.NoIndex()}}
	plan, err = job.Reconcile(s)
	if err != nil || len(plan.Create)+len(plan.Untrack) > 0 || len(plan.Events) != 1 {
		t.Errorf("an unknown mode: error %v\n%s", err, plan.String())
	}
	if end := plan.Conclude(job.Outcome{}); end.Retry || len(end.Events) != 1 || end.Metrics.PodsFailed != 0 {
		t.Errorf("an unknown mode: %+v", end)
	}
}
