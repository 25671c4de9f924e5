package job_test

import (
	"testing"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/kit/world"
)

// TestJ15_RecordedBeyondCompletions: an elastic job has shrunk while the failure of an
// index that it has no longer was being recorded. The index does not fail, and its pod
// waits for no replacement.
func TestJ15_RecordedBeyondCompletions(t *testing.T) {
	for limit := range int32(2) {
		w := world.NewJob(job.Spec{
			CompletionMode: job.Indexed, Completions: ptr[int32](1), Parallelism: ptr[int32](1), BackoffLimitPerIndex: ptr(limit),
			Template: job.Template{RestartPolicy: job.RestartNever},
		})
		s := w.Snapshot()
		s.Job.Status.UncountedTerminatedPods = &job.UncountedTerminatedPods{Failed: []job.UID{"b"}}
		s.Pods = []job.Pod{
			{Name: "a", UID: "a", Phase: job.PodRunning, Index: job.IndexAt(0)},
			{Name: "b", UID: "b", Phase: job.PodFailed, Index: job.IndexAt(5)},
		}
		plan := job.PlanOf(t, s)
		if len(plan.Untrack) != 1 || plan.Untrack[0].UID != "b" {
			t.Errorf("limit %d: the pod keeps its finalizer:\n%s", limit, plan.String())
		}
		end := plan.Conclude(job.Outcome{Recorded: job.ResultDone, Untracked: []job.Result{job.ResultDone}, Settled: job.ResultDone})
		if end.Retry || end.Metrics.IndexesFailed != 0 {
			t.Errorf("limit %d: %d indexes have failed, retry %v", limit, end.Metrics.IndexesFailed, end.Retry)
		}
	}
}

// TestJI6_BothLists: a status that lists an index in both lists is repaired, with a note.
func TestJI6_BothLists(t *testing.T) {
	w := world.NewJob(job.Spec{
		CompletionMode: job.Indexed, Completions: ptr[int32](3), Parallelism: ptr[int32](0), BackoffLimitPerIndex: ptr[int32](0),
		Template: job.Template{RestartPolicy: job.RestartNever},
	})
	s := w.Snapshot()
	s.Job.Status.CompletedIndexes, s.Job.Status.FailedIndexes = "0,1", ptr("1,2")
	plan := job.PlanOf(t, s)
	want := job.Note{Field: "job.status.failedIndexes", Value: `"1,2"`, Message: "has completed indexes; they are left out"}
	if len(plan.Notes) != 1 || plan.Notes[0] != want {
		t.Errorf("notes %v, want %v", plan.Notes, want)
	}
}
