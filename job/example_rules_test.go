package job_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobreason"
)

// The controller reference and the labels of a pod decide whether it belongs to the job.
func ExampleOwnerOf() {
	j := &job.Job{Name: "render", UID: "job-1", Spec: job.Spec{
		Selector: &job.Selector{MatchLabels: map[string]string{"app": "render"}},
	}}
	ours, others := map[string]string{"app": "render"}, map[string]string{"app": "web"}
	fmt.Println(job.OwnerOf(j, "job-1", ours))
	fmt.Println(job.OwnerOf(j, "job-1", others)) // to be released
	fmt.Println(job.OwnerOf(j, "", ours))        // to be adopted
	fmt.Println(job.OwnerOf(j, "job-0", ours))   // an earlier job of the same name
	// Output:
	// Owned
	// OwnedUnmatched
	// Orphan
	// Foreign
}

// running returns a job with two running pods.
func running() job.Snapshot {
	s := job.Snapshot{
		Now: time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC),
		Job: job.Job{Name: "render", UID: "job-1", Spec: job.Spec{Completions: ptr[int32](4), Parallelism: ptr[int32](2)}},
		Pods: []job.Pod{
			{Name: "render-a", UID: "a", Phase: job.PodRunning, Ready: true},
			{Name: "render-b", UID: "b", Phase: job.PodRunning},
		},
	}
	job.Default(&s.Job.Spec)
	s.Job.Status.StartTime = s.Now.Add(-time.Hour)
	return s
}

// A suspended job deletes its pods without counting them. It gets a new start time when it is
// resumed.
func ExampleReconcile_suspend() {
	s := running()
	s.Job.Spec.Suspend = ptr(true)
	plan, err := job.Reconcile(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan.String())
	status := plan.Record(job.Writes{Deleted: []job.Effect{{Result: jobreason.ResultDone}, {Result: jobreason.ResultDone}}}).Status
	fmt.Println(status.Condition(job.ConditionSuspended).Status, status.StartTime.IsZero())
	// Output:
	// delete render-b, finalizer first: the job is suspended (J28)
	// delete render-a, finalizer first: the job is suspended (J28)
	// wait: the job is suspended
	// True true
}

// A job that is being deleted creates no pods. Pods that have ended are counted, and all pods lose
// the finalizer, so that they can be removed.
func ExampleReconcile_deletion() {
	s := running()
	s.Job.DeletionTimestamp = s.Now
	s.Pods[0].Phase = job.PodSucceeded
	plan, err := job.Reconcile(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan.String())
	// Output:
	// untrack render-a: succeeded
	// untrack render-b: not counted
	// wait: the job is being deleted
}

// Options change the behaviour of the planner: here, a pod that does not start is given up.
func ExampleOptions() {
	s := running()
	s.Pods[1].Phase = job.PodPending
	s.Pods[1].Detail = &job.PodDetail{CreationTimestamp: s.Now.Add(-10 * time.Minute)}
	for _, options := range []job.Options{{}, {PendingTimeout: 5 * time.Minute}} {
		s.Options = options
		plan, err := job.Reconcile(s)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(plan.String())
		fmt.Println("-")
	}
	// Output:
	// wait: 2 active pods not finished
	// -
	// delete render-b: the pod has not started in time (PendingTimeout)
	// wait: 1 active pod not finished
	// -
}

// A Planner reuses its buffers. A service with many jobs has one Planner for each worker. A plan is
// valid until the next round.
func ExamplePlanner() {
	var planner job.Planner
	s := running()
	for _, name := range []string{"render", "encode"} {
		s.Job.Name, s.Job.UID = name, job.UID(name)
		plan, err := planner.Reconcile(&s)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name, plan.Waits[0])
	}
	// Output:
	// render 2 active pods not finished
	// encode 2 active pods not finished
}

// A pod whose job is gone has to lose its finalizer, or it can never be deleted.
func ExampleMayUntrack() {
	pod := &job.Pod{Name: "render-a", UID: "a", Phase: job.PodSucceeded}
	running, ended := &job.Job{UID: "job-1"}, &job.Job{UID: "job-1"}
	ended.Status.Conditions = []job.Condition{{Type: job.ConditionComplete, Status: job.ConditionTrue}}
	for _, owner := range []*job.Job{running, ended, nil} {
		fmt.Println(job.MayUntrack(owner, pod, job.Options{}))
	}
	// Output:
	// false
	// true
	// true
}

// A service stores the memory with the job, and only when it has changed. A memory that cannot be
// read counts as lost.
func ExampleMemory() {
	s := running()
	s.Consistent = true // the snapshot is read from a database
	s.Pods[1].Phase, s.Pods[1].Detail = job.PodFailed, finishedAt(s.Now, 1)
	var stored []byte
	for round := range 3 {
		plan, err := job.Reconcile(s)
		if err != nil {
			fmt.Println(err)
			return
		}
		end := plan.Conclude(job.Outcome{Recorded: job.Reply{Result: jobreason.ResultDone}, Untracked: []job.Reply{{Result: jobreason.ResultDone}}, Settled: job.Reply{Result: jobreason.ResultDone}})
		if !end.Memory.Equal(s.Memory) {
			stored, _ = json.Marshal(end.Memory)
		}
		fmt.Printf("round %d: stored %t, %d failure\n", round, !end.Memory.Equal(s.Memory), end.Memory.Backoff.Failures)
		// Another process may run the next round.
		s.Job.Status, s.Pods[1].Untracked, s.Memory = end.Status, true, job.Memory{}
		if err := s.Memory.UnmarshalJSON(stored); err != nil {
			fmt.Println(err)
		}
	}
	_ = s.Memory.UnmarshalJSON([]byte("torn"))
	plan, _ := job.Reconcile(s)
	fmt.Println(plan.Notes[0].Field, plan.Notes[0].Message)
	// Output:
	// round 0: stored true, 1 failure
	// round 1: stored false, 1 failure
	// round 2: stored false, 1 failure
	// memory cannot be read, and counts as lost
}
