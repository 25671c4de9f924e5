// Command tenthousand asks what the backoff policy and the way to raise the parallelism do to ten
// thousand jobs of twenty pods on 500 nodes of 8 slots, where one pod in twenty fails.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/examples/simulate/sim"
	"github.com/batchplan/batchplan/job"
)

// grow raises the parallelism by two for each success.
func grow(_ time.Duration, spec *job.Spec, status *job.Status) bool {
	now, want := *spec.Parallelism, min(20, 2+2*status.Succeeded)
	spec.Parallelism = &want
	return want != now
}

func main() {
	var variants []sim.Variant
	for _, policy := range []struct {
		name    string
		backoff backoff.Policy
	}{{"10s to 10m", backoff.Policy{}}, {"always 10s", backoff.Policy{Factor: 1}}} {
		for _, raise := range []struct {
			name        string
			parallelism int32
			adjust      func(time.Duration, *job.Spec, *job.Status) bool
		}{{"all at once", 20, nil}, {"growing", 2, grow}} {
			variants = append(variants, sim.Variant{Name: policy.name + ", " + raise.name, World: func(seed uint64) sim.World {
				return sim.World{
					Seed: seed, Summary: true, Nodes: sim.Nodes(500, sim.Node{Pods: 8}),
					Jobs: sim.Jobs(10_000, seed, sim.Between(sim.Exponential(4*time.Second)), sim.Job{
						Name: "job", Spec: sim.Spec(20, raise.parallelism), Adjust: raise.adjust,
						Options: job.Options{Backoff: policy.backoff},
						Pod:     sim.Pod{Duration: sim.LogNormal(5*time.Minute, 0.6), Failure: 0.05},
					}),
				}
			}})
		}
	}
	comparison, err := sim.Compare(context.Background(), variants, 1, 3, 0, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(comparison)
}
