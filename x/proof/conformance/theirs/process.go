package theirs

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
)

// Run runs all controllers for one namespace until the context ends, as kube-controller-manager
// does: with one set of caches, which keep no managed fields. It calls ready once the caches are
// full.
func Run(ctx context.Context, client kubernetes.Interface, namespace string, workers int, ready func()) error {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace),
		informers.WithTransform(trim))
	defer factory.Shutdown()

	js := factory.Batch().V1().Jobs()
	jobs, err := newJobs(ctx, client, factory, factory.Core().V1().Pods(), js)
	if err != nil {
		return err
	}
	cronJobs, err := cronjob.NewControllerV2(ctx, js, factory.Batch().V1().CronJobs(), client)
	if err != nil {
		return err
	}

	ttl := ttlafterfinished.New(ctx, js, client)
	factory.Start(ctx.Done())

	var running sync.WaitGroup
	for _, run := range []func(context.Context, int){jobs.Run, cronJobs.Run, ttl.Run} {
		running.Go(func() { run(ctx, workers) })
	}
	factory.WaitForCacheSync(ctx.Done())
	ready()
	running.Wait()
	return nil
}

// trim trims an object as kube-controller-manager does for its caches.
func trim(o any) (any, error) {
	if m, err := meta.Accessor(o); err == nil && m.GetManagedFields() != nil {
		m.SetManagedFields(nil)
	}
	return o, nil
}
