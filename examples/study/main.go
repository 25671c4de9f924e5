// Study simulates the cost of two choices that users of Kubernetes have: how long a job waits after
// a failed pod, and whether all pods start together or the parallelism grows with the successes.
// Ten thousand jobs of twenty pods run on 500 nodes of 8 slots, and one pod in twenty fails.
//
//	go run ./examples/study       # 10 000 jobs, 3 seeds
//	go run ./examples/study 500   # fewer jobs
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/sim"
)

func main() {
	jobs := 10_000
	if len(os.Args) > 1 {
		n, err := strconv.Atoi(os.Args[1])
		if err != nil || n < 1 || len(os.Args) > 2 {
			fmt.Fprintln(os.Stderr, "usage: study [JOBS]")
			os.Exit(2)
		}
		jobs = n
	}
	c, err := study(context.Background(), jobs, 3)
	if err != nil {
		fmt.Fprintln(os.Stderr, "study:", err)
		os.Exit(1)
	}
	fmt.Print(c)
}

// study compares all combinations of the two choices. With the same seed, all have the same
// arrivals and the same pods, so that a difference comes from the choice.
func study(ctx context.Context, jobs, seeds int) (*sim.Comparison, error) {
	var variants []sim.Variant
	for _, wait := range []struct {
		name   string
		policy backoff.Policy
	}{{"10s to 10m", backoff.Policy{}}, {"always 10s", backoff.Policy{Factor: 1}}} {
		for _, start := range []struct {
			name        string
			parallelism int32
			adjust      func(time.Duration, *job.Spec, *job.Status) bool
		}{{"all at once", 20, nil}, {"growing", 2, grow}} {

			like := sim.Job{
				Name: "job", Spec: sim.Spec(20, start.parallelism), Adjust: start.adjust,
				Options: job.Options{Backoff: wait.policy},
				Pod:     sim.Pod{Duration: sim.LogNormal(5*time.Minute, 0.6), Failure: 0.05},
			}

			play := func(seed uint64) sim.World { return world(jobs, seed, like) }
			variants = append(variants, sim.Variant{Name: wait.name + ", " + start.name, World: play})
		}
	}

	return sim.Compare(ctx, variants, 1, seeds, 0, nil)
}

// world returns a world in which jobs arrive independently of each other, on average one in four
// seconds.
func world(jobs int, seed uint64, like sim.Job) sim.World {
	return sim.World{
		Seed: seed, Summary: true, Nodes: sim.Nodes(500, sim.Node{Pods: 8}),
		Jobs: sim.Jobs(jobs, seed, sim.Between(sim.Exponential(4*time.Second)), like),
	}
}

// grow raises the parallelism by two for each success.
func grow(_ time.Duration, spec *job.Spec, status *job.Status) bool {
	now, want := *spec.Parallelism, min(20, 2+2*status.Succeeded)
	spec.Parallelism = &want
	return want != now
}
