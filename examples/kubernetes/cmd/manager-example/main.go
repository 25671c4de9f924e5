// Manager-example runs the controllers on a manager of controller-runtime, for the jobs whose
// spec.managedBy is example.com/jobs. Put your own controllers beside them.
package main

import (
	"fmt"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/examples/kubernetes/controller"
	"github.com/batchplan/batchplan/examples/kubernetes/reconcilers"
)

const name = "example.com/jobs"

func main() {
	ctrl.SetLogger(klog.Background())
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "manager-example:", err)
		os.Exit(1)
	}
}

func run() error {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{})
	if err != nil {
		return err
	}
	jobs := reconcilers.Job{JobOptions: controller.JobOptions{ManagedBy: name}}
	if err := jobs.SetupWithManager(mgr); err != nil {
		return err
	}
	orphans := reconcilers.Orphan{OrphanOptions: controller.OrphanOptions{ManagedBy: name}}
	if err := orphans.SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}
