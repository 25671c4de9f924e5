package controller

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/examples/kubernetes/convert"
	"github.com/batchplan/batchplan/job"
)

// TTLOptions say which finished jobs are deleted, and when.
type TTLOptions struct {
	Common
	// ManagedBy restricts the controller to the jobs of that spec.managedBy, where
	// [job.ControllerName] also stands for jobs without the field. Empty means all jobs, which
	// is what the built-in controller deletes.
	ManagedBy string
	// Planner may hold other times to live.
	Planner job.Options
	// Metrics is told of deletions; nil means nobody is.
	Metrics TTLMetrics
	// Look is told of each look at a finished job; fresh is the one at the server (T4). It may
	// be nil.
	Look func(j *job.Job, now time.Time, fresh, expired bool, at time.Time)
}

// TTLMetrics are told what the metric of a TTL controller measures.
type TTLMetrics interface {
	// Expired is a job that was deleted so long after it had expired.
	Expired(late time.Duration)
}

// TTL deletes finished jobs when their time to live is over. [NewTTL] returns it with a queue
// and workers.
type TTL struct {
	client  kubernetes.Interface
	options TTLOptions
	jobs    cache.Indexer
}

// NewTTL returns a controller of the factory's jobs. Call it before the factory starts.
func NewTTL(client kubernetes.Interface, factory informers.SharedInformerFactory, o TTLOptions) (*Controller[types.NamespacedName], error) {
	return NewTTLOn(client, factory.Batch().V1().Jobs().Informer(), o)
}

// NewTTLOn is NewTTL for an informer that comes from elsewhere.
func NewTTLOn(client kubernetes.Interface, jobs cache.SharedIndexInformer, o TTLOptions) (*Controller[types.NamespacedName], error) {
	r := NewTTLReconciler(client, jobs, o)
	if o.Workers == 0 {
		o.Workers = 5
	}
	c := newController("ttl", &o.Common, workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]())
	c.reconcile, c.each = r.Reconcile, r.each
	return c, c.watch(jobs, r.JobEvents(c.queue))
}

// NewTTLReconciler returns the reconciler alone, as [NewJobReconciler] does.
func NewTTLReconciler(client kubernetes.Interface, jobs cache.SharedIndexInformer, o TTLOptions) *TTL {
	return &TTL{client, o, jobs.GetIndexer()}
}

// JobEvents returns the handler of the jobs' informer. It asks for a look at each job that
// has finished.
func (c *TTL) JobEvents(queue Queue[types.NamespacedName]) cache.ResourceEventHandler {
	look := func(o any) {
		if j := o.(*batchv1.Job); c.takes(j) {
			queue.Add(keyOf(j))
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: look, UpdateFunc: func(_, o any) { look(o) }}
}

// takes reports whether the job has finished and is this controller's.
func (c *TTL) takes(j *batchv1.Job) bool {
	if !convert.IsFinished(j) || !c.options.serves(j.Namespace) {
		return false
	}
	by := job.ControllerName
	if j.Spec.ManagedBy != nil {
		by = *j.Spec.ManagedBy
	}
	return c.options.ManagedBy == "" || c.options.ManagedBy == by
}

// each adds all finished jobs of some namespaces.
func (c *TTL) each(namespace func(string) bool, add func(types.NamespacedName)) {
	for _, o := range c.jobs.List() {
		if j := o.(*batchv1.Job); namespace(j.Namespace) && c.takes(j) {
			add(keyOf(j))
		}
	}
}

// Reconcile deletes the job if it has expired by the cache and by the server (T4). It returns
// when the job expires, or the zero time.
func (c *TTL) Reconcile(ctx context.Context, key types.NamespacedName) (next time.Time, err error) {
	object, found, err := c.jobs.GetByKey(key.String())
	if err != nil || !found {
		return next, nil
	}
	j := object.(*batchv1.Job)
	if expired, next, err := c.look(ctx, j, false); !expired {
		return next, err
	}
	fresh, err := c.client.BatchV1().Jobs(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return next, nil
	}
	if err != nil {
		return next, err
	}
	expired, at, err := c.look(ctx, fresh, true)
	if !expired {
		return at, err
	}
	klog.FromContext(ctx).V(2).Info("job has expired and is deleted", "job", key)
	policy := metav1.DeletePropagationForeground
	err = c.client.BatchV1().Jobs(key.Namespace).Delete(ctx, key.Name, metav1.DeleteOptions{
		PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &fresh.UID},
	})
	if err == nil && c.options.Metrics != nil {
		c.options.Metrics.Expired(time.Since(at))
	}
	return next, err
}

// look asks whether a job has expired, and if not, when it does.
func (c *TTL) look(ctx context.Context, j *batchv1.Job, fresh bool) (expired bool, at time.Time, err error) {
	if !c.takes(j) {
		return false, at, nil
	}
	value, now := convert.Job(j), time.Now()
	expired, at, err = job.Expire(value, c.options.Planner, now)
	if c.options.Look != nil {
		c.options.Look(&value, now, fresh, expired, at)
	}
	if err != nil {
		c.options.report(ctx, j, true, job.Event{Type: job.EventWarning, Reason: "UnknownExpiry", Message: err.Error()})
		return false, time.Time{}, err
	}
	return expired, at, nil
}
