package controller_test

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// Clip is a resource of your own, with the spec and the status of a job.
type Clip struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              batchv1.JobSpec   `json:"spec"`
	Status            batchv1.JobStatus `json:"status,omitzero"`
}

func (c *Clip) DeepCopyObject() runtime.Object { // controller-gen writes the real one
	j := (&batchv1.Job{ObjectMeta: c.ObjectMeta, Spec: c.Spec, Status: c.Status}).DeepCopy()
	return &Clip{c.TypeMeta, j.ObjectMeta, j.Spec, j.Status}
}

// The controllers of a resource of your own on client-go. The clients of clips are generated.
func ExampleNewJobs() {
	run := func(ctx context.Context, client kubernetes.Interface, clips func(namespace string) backend.OwnerClient[*Clip], clipInformer cache.SharedIndexInformer, scheme *runtime.Scheme) error {
		factory := informers.NewSharedInformerFactory(client, 0)
		kind := controller.Kind[*Clip]{
			GroupVersionKind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Clip"},
			Spec:             func(c *Clip) *batchv1.JobSpec { return &c.Spec },
			Status:           func(c *Clip) *batchv1.JobStatus { return &c.Status },
			Objects:          clips,
			PodClient:        client,
			ObjectInformer:   clipInformer,
			PodInformer:      factory.Core().V1().Pods().Informer(),
		}
		common := controller.Common{Events: controller.NewRecorder(ctx, client, scheme, "clips")}
		jobs, err := controller.NewJobs(kind, controller.JobOptions{Common: common})
		if err != nil {
			return err
		}
		orphans, err := controller.NewOrphans(kind, controller.OrphanOptions{Common: common})
		if err != nil {
			return err
		}
		ttl, err := controller.NewTTL(kind, controller.TTLOptions{Common: common})
		if err != nil {
			return err
		}
		factory.Start(ctx.Done())
		go clipInformer.Run(ctx.Done())
		return controller.Run(ctx, jobs, orphans, ttl)
	}
	_ = run
}
