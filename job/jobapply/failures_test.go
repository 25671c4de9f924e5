package jobapply_test

import (
	"context"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

// TestJ18_ABackendOfFourMethods: the backend of the example stores the pods of [job.Creation.Pod],
// and with them the failure counts of each index. A job whose pods always fail ends.
func TestJ18_ABackendOfFourMethods(t *testing.T) {
	s := snapshot(2)
	s.Job.Spec.Completions, s.Job.Spec.BackoffLimitPerIndex = ptr[int32](2), ptr[int32](2)
	s.Job.Spec.BackoffLimit = ptr[int32](1 << 30)
	m := &memory{job: s.Job, now: at(0)}
	var remembered job.Memory

	for range 20 {
		p := plan(t, job.Snapshot{Job: m.job, Pods: m.pods, Now: m.now, Memory: remembered, Consistent: true})
		end, err := jobapply.Executor{Parallel: 1}.Apply(context.Background(), m, p)
		if err != nil {
			t.Fatal(err)
		}

		if m.job.Status.Finished() == job.ConditionFailed {
			if len(m.pods) != 6 || *m.job.Status.FailedIndexes != "0,1" {
				t.Errorf("%d pods, %s", len(m.pods), m.job.Status)
			}
			return
		}

		remembered, m.now = end.Memory, m.now.Add(time.Minute)
		for i := range m.pods {
			m.pods[i].Phase = job.PodFailed
		}
	}
	t.Errorf("the job does not end: %d pods, %s", len(m.pods), m.job.Status)
}
