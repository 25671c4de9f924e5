package jobapply_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

// memory is a backend that keeps its pods in a slice.
type memory struct {
	now  time.Time
	job  job.Job
	pods []job.Pod
}

func (m *memory) Create(_ context.Context, c job.Creation) (job.PodRef, error) {
	uid := fmt.Sprint("uid-", len(m.pods))
	p := c.Pod(c.NamePrefix+uid, job.UID(uid), m.now)
	m.pods = append(m.pods, p)
	return job.PodRef{Name: p.Name, UID: p.UID}, nil
}

func (m *memory) Untrack(_ context.Context, u job.Untracking) error {
	for i := range m.pods {
		if m.pods[i].UID == u.UID {
			m.pods[i].Untracked = true
		}
	}
	return nil
}

func (m *memory) WriteStatus(_ context.Context, s job.Status) error { m.job.Status = s; return nil }

// The plans of this job delete no pod.
func (m *memory) Delete(context.Context, job.Deletion) error { return errors.ErrUnsupported }

// A job runs to its end on a backend of four short methods. Between the rounds the
// pods succeed.
func Example() {
	completions := int32(2)
	m := &memory{job: job.Job{Name: "render", UID: "job-1", Spec: job.Spec{Completions: &completions}}}
	job.Default(&m.job.Spec)

	var remembered job.Memory
	executor := jobapply.Executor{Parallel: 1}
	for m.now = time.Unix(0, 0); m.job.Status.Finished() == ""; m.now = m.now.Add(time.Minute) {
		plan, err := job.Reconcile(job.Snapshot{
			Job: m.job, Pods: m.pods, Now: m.now, Memory: remembered,
			Consistent: true, // this backend reads its own writes
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		conclusion, err := executor.Apply(context.Background(), m, &plan)
		if err != nil {
			fmt.Println(err)
		}
		remembered = conclusion.Memory
		for _, e := range conclusion.Events {
			fmt.Println(e.Reason, e.Message)
		}
		for i := range m.pods {
			m.pods[i].Phase = job.PodSucceeded
		}
	}
	fmt.Println(m.job.Status)
	// Output:
	// SuccessfulCreate Created pod: render-uid-0
	// SuccessfulCreate Created pod: render-uid-1
	// Completed Job completed
	// active=0 ready=0 terminating=0 succeeded=2 failed=0 SuccessCriteriaMet=True(CompletionsReached) Complete=True(CompletionsReached)
}
