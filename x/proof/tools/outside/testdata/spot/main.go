// Spot asks what spot nodes save, and what they cost in time: with jobs that ignore evictions, and
// with jobs that do not.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/sim"
)

func main() {
	onDemand := sim.Node{Pods: 4, Price: 0.40}
	spot := sim.Node{Pods: 4, Price: 0.12, Preemptions: 0.3, Away: sim.Exponential(10 * time.Minute)}

	comparison, err := sim.Compare(context.Background(), []sim.Variant{
		{Name: "on demand", World: world(onDemand, nil)},
		{Name: "spot", World: world(spot, nil)},
		{Name: "spot, evictions ignored", World: world(spot, ignoreEvictions)},
	}, 1, 4, 0, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, "spot:", err)
		os.Exit(1)
	}

	for m, metric := range comparison.Metrics {
		if !slices.Contains([]string{"jobs complete", "jobs failed", "cost of busy nodes"}, metric.Name) {
			continue
		}
		for v, variant := range comparison.Variants {
			fmt.Printf("%s, %s: %.1f\n", metric.Name, variant, comparison.Estimate(v, m).Mean)
		}
	}
}

// ignoreEvictions keeps pods that a node has evicted out of the count of failures.
var ignoreEvictions = &job.PodFailurePolicy{Rules: []job.PodFailurePolicyRule{{
	Action:          job.IgnoreFailure,
	OnPodConditions: []job.PodCondition{{Type: "DisruptionTarget"}},
}}}

// world has a hundred jobs of ten pods, which take half an hour each, on twenty nodes.
func world(node sim.Node, policy *job.PodFailurePolicy) func(seed uint64) sim.World {
	spec := sim.Spec(10, 5)
	spec.PodFailurePolicy = policy
	limit := int32(2)
	spec.BackoffLimit = &limit

	return func(seed uint64) sim.World {
		return sim.World{
			Seed:    seed,
			Summary: true,
			Nodes:   sim.Nodes(20, node),
			Jobs: sim.Jobs(100, seed, sim.Between(sim.Exponential(5*time.Minute)), sim.Job{
				Name: "render",
				Spec: spec,
				Pod:  sim.Pod{Duration: sim.LogNormal(30*time.Minute, 0.5), Failure: 0.01},
			}),
		}
	}
}
