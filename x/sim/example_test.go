package sim_test

import (
	"context"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/x/sim"
)

// Twenty nodes are always there, or an autoscaler adds and removes them.
func ExampleScale() {
	world := func(scale *sim.Scale) sim.World {
		return sim.World{
			Nodes: sim.Nodes(20, sim.Node{Pods: 4, Price: 0.20, Scale: scale}),
			Jobs: sim.Jobs(10, 1, sim.Every(time.Hour), sim.Job{
				Spec: sim.Spec(60, 60),
				Pod:  sim.Pod{Duration: sim.Constant(10 * time.Minute)},
			}),
		}
	}

	autoscaler := &sim.Scale{Start: sim.Constant(90 * time.Second), Idle: 10 * time.Minute}
	for _, scale := range []*sim.Scale{nil, autoscaler} {
		result, err := sim.Run(context.Background(), world(scale))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d nodes added, cost %.2f, a job takes %v\n",
			result.NodesAdded, result.Cost, result.Turnaround.Mean().Round(time.Second))
	}
	// Output:
	// 0 nodes added, cost 36.67, a job takes 10m1s
	// 150 nodes added, cost 10.25, a job takes 11m41s
}
