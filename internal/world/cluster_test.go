package world_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
)

// ExampleCluster has two jobs on one clock. Each pod runs for seven minutes.
func ExampleCluster() {
	c := world.NewCluster()
	c.AddJob("report", job.Spec{Completions: ptr[int32](2), Parallelism: ptr[int32](1)})
	c.AddJob("import", job.Spec{Completions: ptr[int32](4), Parallelism: ptr[int32](2)})

	for end := c.Now().Add(90 * time.Minute); c.Now().Before(end); c.Advance(c.Now().Add(time.Minute)) {
		for _, j := range c.Jobs() {
			for _, p := range slices.Clone(j.Pods) {
				if p.Phase == job.PodPending {
					j.Run(p)
				} else if c.Now().Sub(p.Detail.ReadyTransition) >= 7*time.Minute {
					j.Finish(p, 0)
				}
			}
		}
		if err := c.Settle(); err != nil {
			fmt.Println(err)
		}
	}
	for _, j := range c.Jobs() {
		fmt.Println(j.Job.Name, j.Job.Status.Finished(), j.Job.Status.CompletionTime.Format("15:04"))
	}
	fmt.Println(c.Err())
	// Output:
	// import Complete 00:16
	// report Complete 00:16
	// <nil>
}

// TestCluster_ManyLives plays jobs on one clock, some behind late views, with faults. Then they come
// to rest: all jobs end, and no invariant is broken.
func TestCluster_ManyLives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := world.NewCluster()
		for n := range rapid.IntRange(1, 4).Draw(t, "jobs") {
			j := c.AddJob(fmt.Sprint("job-", n), jobgen.Specs().Draw(t, "spec"))
			j.Stale = rapid.Bool().Draw(t, "stale")
			j.DeliverAll()
		}
		for range rapid.IntRange(5, 30).Draw(t, "steps") {
			clusterStep(t, c)
		}
		restCluster(t, c)
	})
}

// clusterStep makes one thing happen, and the controllers notice it.
func clusterStep(t *rapid.T, c *world.Cluster) {
	jobs := c.Jobs()
	j := jobs[rapid.IntRange(0, len(jobs)-1).Draw(t, "job")]
	switch n := rapid.IntRange(0, 9).Draw(t, "cluster step"); {
	case n < 4:
		now := j.Now
		jobgen.Act(t, j)
		c.Advance(later(c.Now(), now, j.Now)) // all jobs share one clock
	case n < 5:
		jobgen.Deliver(t, j)
	case n < 6:
		jobgen.Meddle(t, j)
	case n < 8:
		jobgen.DrawFaults(t, j, jobgen.AllFaults)
	}
	if next := c.Next(); next.After(c.Now()) && next.Before(c.Now().Add(24*time.Hour)) &&
		rapid.Bool().Draw(t, "wake up") {
		c.Advance(next)
	}
	settle(t, c)
}

// later moves the clock of the cluster by as much as the clock of a job has moved.
func later(now, before, after time.Time) time.Time { return now.Add(after.Sub(before)) }

func settle(t *rapid.T, c *world.Cluster) {
	must.OK(t, c.Settle())
	must.OK(t, c.Err())
}

// restCluster ends the faults, lets all pods succeed, and expects every job to end.
func restCluster(t *rapid.T, c *world.Cluster) {
	for _, j := range c.Jobs() {
		j.Stale, j.Fault = false, nil
		j.Edit(func(s *job.Spec) { s.Suspend, s.Parallelism = ptr(false), ptr(max(*s.Parallelism, 1)) })
	}
	for range 100 {
		settle(t, c)
		open := 0
		for _, j := range c.Jobs() {
			jobgen.Kubelet(j)
			for _, p := range slices.Clone(j.Pods) {
				j.Run(p)
				j.Finish(p, 0)
			}
			if j.Job.Status.Finished() == "" && j.Job.DeletionTimestamp.IsZero() {
				open++
			}
		}

		if open == 0 {
			return
		}
		c.Advance(c.Now().Add(20 * time.Minute))
	}
	t.Fatalf("jobs have not ended: %d", len(c.Jobs()))
}

// TestCluster_Neighbours: a job behaves in a cluster as it does alone.
func TestCluster_Neighbours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := jobgen.Specs().Draw(t, "spec")
		alone, among := world.NewCluster(), world.NewCluster()
		for n := range 3 {
			among.AddJob(fmt.Sprint("neighbour-", n), jobgen.Specs().Draw(t, "neighbour"))
		}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			move := rapid.IntRange(0, 4).Draw(t, "move")
			for _, c := range []*world.Cluster{alone, among} {
				if c.Job("job") == nil {
					c.AddJob("job", spec)
				}
				for _, j := range c.Jobs() {
					for n, p := range slices.Clone(j.Pods) {
						if j.Run(p); n == move {
							j.Finish(p, int32(move%2))
						}
					}
				}
				c.Advance(c.Now().Add(time.Duration(move) * 7 * time.Second))
				settle(t, c)
			}

			if a, b := alone.Job("job").State(), among.Job("job").State(); a != b {
				t.Fatalf("alone:\n%s\namong others:\n%s", a, b)
			}
		}
	})
}
