package ours

import (
	"context"
	"sync"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/apply"
	"github.com/batchplan/batchplan/job"
)

// NewStored makes the job controller alone, with memories that outlive it, as an
// adapter has them that stores [job.Memory].
func NewStored(client kubernetes.Interface, o Options, memories map[string]job.Memory) (phases []func(), stop func()) {
	if o.Watch == nil {
		o.Watch = unwatched{}
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	jobs, pods := informers.NewSharedInformerFactory(client, 0), informers.NewSharedInformerFactory(client, 0)
	c := newJobs(client, pods.Core().V1().Pods(), jobs.Batch().V1().Jobs(), recorder(ctx, client, "job-controller"), o)
	c.memories = memories
	var running sync.WaitGroup
	phases = []func(){
		func() { jobs.StartWithContext(ctx) },
		func() { pods.StartWithContext(ctx) },
		func() {
			running.Go(func() { c.work(ctx) })
			running.Go(func() { c.workOrphans(ctx) })
		},
	}
	return phases, func() {
		cancel()
		c.queue.ShutDown()
		c.orphans.ShutDown()
		jobs.Shutdown()
		pods.Shutdown()
		running.Wait()
	}
}

// Ask is one more round of a CronJob, with a snapshot that asks for more than the
// controller's own: triggers or backfills.
func Ask(ctx context.Context, client kubernetes.Interface, namespace, name string, now metav1.Time, o Options, ask func(*cronjob.Snapshot)) error {
	c := &cronJobs{client: client, options: o}
	object, err := client.BatchV1().CronJobs(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	list, err := client.BatchV1().Jobs(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	decoded := decodeCronJob(object)
	snapshot := cronjob.Snapshot{
		CronJob: decoded, Now: now.Time, Schedule: cronjob.Compile(&decoded, o.Schedule...), Options: o.CronJob,
	}
	for i := range list.Items {
		snapshot.Children = append(snapshot.Children, decodeChild(&decoded, &list.Items[i]))
	}
	ask(&snapshot)
	plan, err := c.planner.Reconcile(&snapshot)
	if err != nil {
		return err
	}
	_, err = apply.Executor{}.Apply(ctx, &cronBackend{cronJobs: c, object: object}, plan)
	return err
}
