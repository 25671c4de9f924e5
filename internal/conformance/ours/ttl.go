package ours

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	"k8s.io/client-go/kubernetes"
	batchlisters "k8s.io/client-go/listers/batch/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/batchplan/batchplan/examples/kubernetes/convert"
	"github.com/batchplan/batchplan/job"
)

// ttl is the TTL-after-finished controller.
type ttl struct {
	client  kubernetes.Interface
	jobs    batchlisters.JobLister
	queue   queue[string]
	options Options
}

func newTTL(client kubernetes.Interface, js batchinformers.JobInformer, o Options) *ttl {
	c := &ttl{
		client: client, jobs: js.Lister(), options: o,
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
	}
	look := func(obj any) {
		if j := obj.(*batchv1.Job); convert.IsFinished(j) {
			c.queue.Add(keyOf(j))
		}
	}
	_, err := js.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    look,
		UpdateFunc: func(_, cur any) { look(cur) },
	})
	must(err)
	return c
}

func (c *ttl) Work(ctx context.Context) {
	for process(c.queue, func(key string) error { return c.round(ctx, key) }) {
	}
}

// round deletes the job if it has expired, also after a fresh look (T4).
func (c *ttl) round(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	must(err)
	j, err := c.jobs.Jobs(namespace).Get(name)
	if err != nil {
		return nil // gone
	}
	if expired, err := c.expired(key, j, false); !expired {
		return err
	}
	fresh, err := c.client.BatchV1().Jobs(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return err
	}
	if expired, err := c.expired(key, fresh, true); !expired {
		return err
	}
	policy := metav1.DeletePropagationForeground
	return c.client.BatchV1().Jobs(namespace).Delete(ctx, name, metav1.DeleteOptions{
		PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &fresh.UID},
	})
}

func (c *ttl) expired(key string, j *batchv1.Job, fresh bool) (bool, error) {
	now, decoded := time.Now(), convert.Job(j)
	expired, at, err := job.Expire(decoded, c.options.Job, now)
	c.options.Watch.TTL(&decoded, now, fresh, expired, at)
	if err == nil && !expired && !at.IsZero() {
		c.queue.AddAfter(key, at.Sub(now))
	}
	return expired, err
}

// ShutDown ends Work.
func (c *ttl) ShutDown() { c.queue.ShutDown() }
