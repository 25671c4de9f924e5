// Render is a controller of a resource of its own, on controller-runtime: a Render has frames, and
// runs one pod for each like an Indexed job, with its retries, metrics, events and TTL. See
// crd.yaml.
//
//	kubectl apply -f examples/kubernetes/render/crd.yaml
//	go run -C examples/kubernetes/render .
package main

import (
	"fmt"
	"os"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	crmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/metrics"
	"github.com/batchplan/batchplan/x/kubernetes/reconcilers"
)

// renders returns the controllers of Renders. Pods are selected by the UID of their Render.
func renders(measured *metrics.Metrics) reconcilers.JobOf[*Render] {
	return reconcilers.JobOf[*Render]{
		JobOptions: controller.JobOptions{Metrics: measured.Jobs()},
		TTLMetrics: measured.TTL(),
		Kind: controller.Kind[*Render]{
			Spec:   jobSpec,
			Status: func(r *Render) *batchv1.JobStatus { return &r.Status },
		},
	}
}

// jobSpec returns the job's spec of a Render.
func jobSpec(r *Render) *batchv1.JobSpec {
	mode := batchv1.IndexedCompletion
	return &batchv1.JobSpec{
		Completions: &r.Spec.Frames, Parallelism: &r.Spec.Frames, CompletionMode: &mode,
		TTLSecondsAfterFinished: r.Spec.TTLSecondsAfterFinished, Template: r.Spec.Template,
	}
}

// run runs the controllers until a signal comes.
func run() error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, addToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}

	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme})
	if err != nil {
		return err
	}

	measured := metrics.Of("Render")
	if err := crmetrics.Registry.Register(measured.Controllers()); err != nil {
		return err
	}
	if err := renders(measured).SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}

func main() {
	ctrl.SetLogger(klog.Background())
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "render:", err)
		os.Exit(1)
	}
}
