// Package theirs runs the controllers of Kubernetes, unmodified.
package theirs

import (
	"context"
	"sync"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"

	_ "github.com/batchplan/batchplan/x/proof/conformance/theirs/unmeasured"
)

// Which chooses the controllers that run.
type Which struct {
	Jobs, CronJobs, TTL bool
	// Stale switches off the feature gate that keeps the job controller from acting on
	// caches older than its own writes.
	Stale bool
	// Namespace restricts the caches to one namespace; empty means all.
	Namespace string
}

// New makes the controllers. The first phases start the caches, owners before what they own. The
// later phases start the controllers one by one, with one worker each. Begin a phase only when the
// previous one has nothing more to do. Otherwise chance would decide the order of the caches, and a
// notification about a pod would be lost if its job is not yet in the cache. Stop returns when all
// goroutines of the controllers have ended.
func New(client kubernetes.Interface, which Which) (phases []func(), stop func()) {
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	newFactory := func() informers.SharedInformerFactory {
		return informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(which.Namespace))
	}

	cronJobs, jobs, groups, pods := newFactory(), newFactory(), newFactory(), newFactory()
	factories := []informers.SharedInformerFactory{cronJobs, jobs, groups, pods}
	js := jobs.Batch().V1().Jobs()

	var controllers []func(context.Context, int)
	if which.Jobs {
		setStale(which.Stale)
		c, err := newJobs(ctx, client, groups, pods.Core().V1().Pods(), js)
		must(err)
		controllers = append(controllers, c.Run)
	}
	if which.CronJobs {
		c, err := cronjob.NewControllerV2(ctx, js, cronJobs.Batch().V1().CronJobs(), client)
		must(err)
		controllers = append(controllers, c.Run)
	}
	if which.TTL {
		controllers = append(controllers, ttlafterfinished.New(ctx, js, client).Run)
	}

	for _, f := range factories {
		phases = append(phases, func() { f.Start(ctx.Done()) })
	}
	var running sync.WaitGroup
	for _, c := range controllers {
		phases = append(phases, func() { running.Go(func() { c(ctx, 1) }) })
	}

	return phases, func() {
		cancel()
		for _, f := range factories {
			f.Shutdown()
		}
		running.Wait()
	}
}

// Quiet stops the logging of the controllers' errors, which scripts provoke. The default handlers
// also remember the real time, and would sleep for years of virtual time.
func Quiet() {
	utilruntime.ErrorHandlers = nil
	klog.SetLogger(logr.Discard())
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
