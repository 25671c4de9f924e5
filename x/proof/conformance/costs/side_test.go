package costs

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/kubernetes/replica"
	"github.com/batchplan/batchplan/x/proof/conformance/theirs"
)

// side is one set of controllers: of jobs, CronJobs, and jobs that expire.
type side string

const (
	reference   side = "theirs"
	recommended side = "ours"        // with the options that users get by default
	preset      side = "ours,preset" // with the options that decide as Kubernetes does
)

// sides are the sides whose processor time is measured, in the order of their turns.
var sides = []side{reference, recommended}

// managedBy is the spec.managedBy of the jobs of a side, or nil.
func (s side) managedBy() *string {
	if s == reference {
		return nil
	}
	name := "example.com/costs"
	return &name
}

// run runs the controllers for a namespace until the context ends. It calls ready once their caches
// are full.
func (s side) run(ctx context.Context, config *rest.Config, namespace string, workers int, ready func()) error {
	if s == reference {
		client, err := kubernetes.NewForConfig(rest.AddUserAgent(rest.CopyConfig(config), "reference"))
		if err != nil {
			return err
		}
		return theirs.Run(ctx, client, namespace, workers, ready)
	}
	c := replica.Config{
		ManagedBy: *s.managedBy(), Namespaces: []string{namespace}, Controllers: replica.Controllers, Workers: workers, Status: &replica.Status{},
	}
	if s == preset {
		var err error
		if c.Planners, err = replica.ParsePlanners(nil, replica.PresetKubernetes+release.Newest().String()); err != nil {
			return err
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- replica.Run(ctx, config, c) }()
	for {
		select {
		case err := <-ended:
			return err
		case <-time.After(5 * time.Millisecond):
		}
		if running, _ := c.Status.Ready(); running {
			ready()
			return <-ended
		}
	}
}

func (s side) namespaceOf(world string) string {
	names := map[side]string{reference: "theirs", recommended: "ours", preset: "preset"}
	return fmt.Sprintf("%s-%s", world, names[s])
}
