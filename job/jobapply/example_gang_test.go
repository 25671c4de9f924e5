package jobapply_test

import (
	"context"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// ganged is a backend with gangs. It needs one more method.
type ganged struct {
	memory
	groups jobgroup.Groups
}

func (c *ganged) WriteGroup(_ context.Context, g jobgroup.Write) (job.UID, error) {
	ref := jobgroup.Ref{Name: g.Name, UID: job.UID("uid of " + g.Name)}
	switch {
	case g.UID != "": // only a gang of a running job changes its size: not in this example
		return "", fmt.Errorf("%s cannot be resized", g.Name)
	case g.Kind == jobgroup.KindWorkload:
		c.groups.Workloads = append(c.groups.Workloads, jobgroup.Workload{
			Ref: ref, Templates: []jobgroup.Template{{Name: g.Template, MinCount: g.MinCount}},
		})
	default:
		c.groups.PodGroups = append(c.groups.PodGroups, jobgroup.PodGroup{Ref: ref, Workload: g.Workload.Name, MinCount: g.MinCount})
	}
	return ref.UID, nil
}

func (c *ganged) Create(ctx context.Context, creation job.Creation) (job.PodRef, error) {
	fmt.Println("a pod of", creation.Group.UID)
	return c.memory.Create(ctx, creation)
}

// With gangs on a backend of your own, three pods start together or not at all.
func ExampleGrouper() {
	three := int32(3)
	c := &ganged{memory: memory{now: time.Unix(0, 0), job: job.Job{Name: "train", UID: "job-1", Spec: job.Spec{
		Parallelism: &three,
		Completions: &three,
		Scheduling:  &jobgroup.Scheduling{SchedulingPolicy: &jobgroup.SchedulingPolicy{Gang: new(jobgroup.Gang)}},
	}}}}
	job.Default(&c.job.Spec)

	plan, err := job.Reconcile(job.Snapshot{
		Job: c.job, Pods: c.pods, Groups: c.groups, Now: c.now,
		Consistent: true, Options: job.Options{Gangs: true},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan.String())
	conclusion, err := jobapply.Executor{Parallel: 1}.Apply(context.Background(), c, &plan)
	if err != nil {
		fmt.Println(err)
	}
	for _, e := range conclusion.Events[:2] {
		fmt.Println(e.Reason, e.Message)
	}
	// Output:
	// create Workload train-746d6c8fd8, minCount 3: the job has never had a pod, and has none (J44)
	// create PodGroup train-746d6c8fd8-train-pgt-0-57dc8f97cc, minCount 3: the job has never had a pod, and has none (J44)
	// create 3 pods in group train-746d6c8fd8-train-pgt-0-57dc8f97cc: fewer pods are active than wanted (J30)
	// wait: 3 active pods not finished
	// a pod of uid of train-746d6c8fd8-train-pgt-0-57dc8f97cc
	// a pod of uid of train-746d6c8fd8-train-pgt-0-57dc8f97cc
	// a pod of uid of train-746d6c8fd8-train-pgt-0-57dc8f97cc
	// WorkloadCreated Created Workload train-746d6c8fd8 for Job train
	// PodGroupCreated Created PodGroup train-746d6c8fd8-train-pgt-0-57dc8f97cc for Job train
}
