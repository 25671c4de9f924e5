package blackbox

import (
	"context"
	"testing"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/blackbox"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// batch is the Job controller with its kubelet.
var batch = blackbox.Batch{
	Program: blackbox.Program{
		Resources: []blackbox.Resource{blackbox.Jobs(), blackbox.Pods()},
		Parent:    blackbox.JobKind,
		Child:     blackbox.PodKind,
		Start: func(ctx context.Context, config *rest.Config) error {
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				return err
			}
			factory := informers.NewSharedInformerFactory(client, 0)
			common := controller.Common{Events: controller.NewRecorder(ctx, client, scheme, "jobs")}
			kind := controller.BatchJobs(client, factory)
			jobs, err := controller.NewJobs(kind, controller.JobOptions{Common: common, ManagedBy: job.ControllerName})
			if err != nil {
				return err
			}
			orphans, err := controller.NewOrphans(kind, controller.OrphanOptions{Common: common, ManagedBy: job.ControllerName})
			if err != nil {
				return err
			}
			factory.Start(ctx.Done())
			defer factory.Shutdown()
			return controller.Run(ctx, jobs, orphans)
		},
	},
	New:   blackbox.NewJob,
	Edit:  blackbox.EditJob,
	Tally: blackbox.JobTally,
	Index: blackbox.PodIndex,
	// Pods have random names, as in Kubernetes.
	RandomNames: true,
}

// TestJobs plays lives of the Job controller: nothing is found.
func TestJobs(t *testing.T) { batch.Test(t, search) }
