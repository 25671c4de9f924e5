package job_test

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

// A job wants three successes, two pods at a time. One pod has succeeded, one has
// just failed for the second time: what now?
func ExampleReconcile() {
	now := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	spec := job.Spec{
		Completions: ptr[int32](3),
		Parallelism: ptr[int32](2),
		Template:    job.Template{RestartPolicy: job.RestartNever},
	}
	job.Default(&spec)
	if err := job.Validate(spec); err != nil {
		fmt.Println(err)
		return
	}

	plan, err := job.Reconcile(job.Snapshot{
		Job: job.Job{Name: "render", UID: "job-1", Spec: spec, Status: job.Status{Failed: 1, StartTime: now.Add(-time.Hour)}},
		Pods: []job.Pod{
			{Name: "render-a", UID: "a", Phase: job.PodSucceeded, Detail: finishedAt(now.Add(-time.Minute), 0)},
			{Name: "render-b", UID: "b", Phase: job.PodFailed, Detail: finishedAt(now, 1)},
		},
		Now: now,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan.String())
	// Output:
	// untrack render-a: succeeded
	// untrack render-b: failed
	// wait: 2 pods wanted, held by backoff until 10:00:10: 1 failure since the last success
	// again at 10:00:10
}

func finishedAt(t time.Time, exitCode int32) *job.PodDetail {
	return &job.PodDetail{Containers: []jobpod.Container{
		{Name: "main", State: jobpod.Terminated, ExitCode: exitCode, FinishedAt: t},
	}}
}

// The TTL controller is one function.
func ExampleExpire() {
	finished := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	j := job.Job{
		Name: "render",
		Spec: job.Spec{TTLSecondsAfterFinished: ptr[int32](60)},
		Status: job.Status{Conditions: []job.Condition{
			{Type: job.ConditionComplete, Status: job.ConditionTrue, LastTransitionTime: finished},
		}},
	}
	expired, again, _ := job.Expire(&j, job.Options{}, finished.Add(10*time.Second))
	fmt.Println(expired, again.Format(time.TimeOnly))
	expired, _, _ = job.Expire(&j, job.Options{}, finished.Add(time.Minute))
	fmt.Println(expired)
	// Output:
	// false 10:01:00
	// true
}

// This adapter keeps its pods in a map. Each step of a round takes the value of the step before.
func ExamplePlan_Record() {
	pods := map[job.UID]*job.Pod{}
	spec := job.Spec{Completions: ptr[int32](2)}
	job.Default(&spec)
	j := job.Job{Name: "render", UID: "job-1", Spec: spec}
	var memory job.Memory

	for now := time.Unix(0, 0); j.Status.Finished() == ""; now = now.Add(time.Minute) {
		snapshot := job.Snapshot{Job: j, Now: now, Memory: memory, Consistent: true} // a map shows all writes
		for _, p := range pods {
			snapshot.Pods = append(snapshot.Pods, *p)
		}
		plan, err := job.Reconcile(snapshot)
		if err != nil {
			fmt.Println(err)
			return
		}
		var writes job.Writes
		for range plan.Create {
			name := fmt.Sprint("render-", len(pods))
			uid := job.UID(name)
			pods[uid] = &job.Pod{Name: name, UID: uid}
			writes.Created = append(writes.Created, job.Effect{Result: jobreason.ResultDone, Pod: job.PodRef{Name: name, UID: uid}})
		}
		for _, d := range plan.Delete {
			delete(pods, d.UID)
			writes.Deleted = append(writes.Deleted, job.Effect{Result: jobreason.ResultDone})
		}
		recording := plan.Record(writes)
		if recording.Write {
			j.Status = recording.Status
		}
		done := job.Reply{Result: jobreason.ResultDone}
		var untracked []job.Reply
		for _, u := range recording.Untrack {
			pods[u.UID].Untracked = true
			untracked = append(untracked, done)
		}
		settlement := recording.Settle(done, untracked)
		if settlement.Write {
			j.Status = settlement.Status
		}
		conclusion := settlement.Conclude(done)
		memory = conclusion.Memory
		for _, e := range conclusion.Events {
			fmt.Println(e.Reason, e.Message)
		}
		for _, p := range pods {
			p.Phase = job.PodSucceeded // meanwhile
		}
	}
	fmt.Println(j.Status)
	// Output:
	// SuccessfulCreate Created pod: render-0
	// SuccessfulCreate Created pod: render-1
	// Completed Job completed
	// active=0 ready=0 terminating=0 succeeded=2 failed=0 SuccessCriteriaMet=True(CompletionsReached) Complete=True(CompletionsReached)
}
