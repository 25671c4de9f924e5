package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/job"
)

// TTLOptions are the options of a TTL controller. They decide which finished jobs are deleted, and
// when.
type TTLOptions struct {
	Common
	// ManagedBy restricts the controller to the jobs with this spec.managedBy. job.ControllerName
	// includes the jobs without the field. Empty means all jobs, as for the built-in controller.
	ManagedBy string
	// Planner are the options of the planner: they can set other times to live. Its ControllerName
	// is set to ManagedBy.
	Planner job.Options
	Metrics TTLMetrics
	Hooks   TTLHooks
}

// TTLMetrics are callbacks for metrics of a TTL controller. They are called concurrently; each may
// be nil.
type TTLMetrics struct {
	// Expired is called after a job was deleted, with the time since it expired.
	Expired func(late time.Duration)
}

// TTLHooks are callbacks for what the controller has seen and decided. They are called
// concurrently; each may be nil. Their arguments are valid until they return.
type TTLHooks struct {
	// Look is called each time a finished job is examined.
	Look func(TTLLook)
}

// TTLLook is one check of whether a finished job has expired.
type TTLLook struct {
	Job *job.Job
	// Fresh is true if the job was read from the server, and false if it is from the cache (T4).
	Fresh bool
	// Now is the time of the check. At is the time when the job expires; zero means never.
	Now, At time.Time
	// Expired is true if the job has expired.
	Expired bool
}

// TTL deletes finished jobs when their time to live is over. [NewTTL] adds a queue and workers.
type TTL struct {
	kind    ownerKind
	options TTLOptions
	owners  cache.Indexer
}

// NewTTL returns a controller of the objects of a kind, as [NewJobs] does.
func NewTTL[T Object](kind Kind[T], o TTLOptions) (*Controller[types.NamespacedName], error) {
	r, err := NewTTLReconciler(kind, o)
	if err != nil {
		return nil, err
	}
	if o.Workers == 0 {
		o.Workers = 5
	}
	limiter := workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]()
	c := newController(kind.controller("ttl"), &o.Common, limiter)
	c.reconcile, c.each = r.Reconcile, r.each
	return c, c.watch(kind.ObjectInformer, r.OwnerEvents(c.queue))
}

// NewTTLReconciler returns the reconciler alone, as [NewJobReconciler] does.
func NewTTLReconciler[T Object](kind Kind[T], o TTLOptions) (*TTL, error) {
	var err error
	if o.ManagedBy != "" || o.Planner.ControllerName != "" {
		_, err = kind.managedBy(o.ManagedBy, &o.Planner)
	}
	if err := errors.Join(kind.complete(false), err); err != nil {
		return nil, fmt.Errorf("%s controller: %w", kind.controller("ttl"), err)
	}
	o.Planner.ControllerName = o.ManagedBy
	return &TTL{&kind, o, kind.ObjectInformer.GetIndexer()}, nil
}

// OwnerEvents returns the handler of the jobs' informer. It requests a round of each finished job.
func (c *TTL) OwnerEvents(queue Queue[types.NamespacedName]) cache.ResourceEventHandler {
	look := func(o any) {
		object := o.(Object)
		if value := c.kind.value(object); c.takes(&value) {
			queue.Add(keyOf(object))
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: look, UpdateFunc: func(_, o any) { look(o) }}
}

// takes reports whether the job has finished and this controller serves it.
func (c *TTL) takes(value *job.Job) bool {
	if value.Status.Finished() == "" || !c.options.serves(value.Namespace) {
		return false
	}
	_, ours := job.ManagerOf(value.Spec, c.options.Planner)
	return ours || c.options.ManagedBy == ""
}

// each calls add for all finished jobs of some namespaces.
func (c *TTL) each(namespace func(string) bool, add func(types.NamespacedName)) {
	for _, o := range c.owners.List() {
		object := o.(Object)
		if value := c.kind.value(object); namespace(value.Namespace) && c.takes(&value) {
			add(keyOf(object))
		}
	}
}

// Reconcile deletes the job if it has expired both in the cache and on the server (T4). Otherwise
// it returns the time when the job expires, or the zero time.
func (c *TTL) Reconcile(ctx context.Context, key types.NamespacedName) (next time.Time, err error) {
	object, found, err := c.owners.GetByKey(named(key))
	if err != nil || !found {
		return next, nil
	}
	if expired, next, err := c.look(ctx, object.(Object), false); !expired {
		return next, err
	}

	fresh, err := c.kind.get(ctx, key)
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

	klog.FromContext(ctx).V(2).Info(c.kind.says("Job has expired and is deleted"), c.kind.controller("job"), key)
	policy, uid := metav1.DeletePropagationForeground, fresh.GetUID()
	err = c.kind.remove(ctx, key, metav1.DeleteOptions{
		PropagationPolicy: &policy,
		Preconditions:     &metav1.Preconditions{UID: &uid},
	})
	if err == nil && c.options.Metrics.Expired != nil {
		c.options.Metrics.Expired(c.options.clock().Since(at))
	}
	return next, err
}

// look reports whether a job has expired, and if not, when it will.
func (c *TTL) look(ctx context.Context, object Object, fresh bool) (expired bool, at time.Time, err error) {
	value, now := c.kind.value(object), c.options.clock().Now()
	if !c.takes(&value) {
		return false, at, nil
	}
	expired, at, err = job.Expire(&value, c.options.Planner, now)
	if c.options.Hooks.Look != nil {
		c.options.Hooks.Look(TTLLook{Job: &value, Fresh: fresh, Now: now, At: at, Expired: expired})
	}
	if err != nil {
		c.options.report(ctx, object, true, job.Event{
			Type:    job.EventWarning,
			Reason:  "UnknownExpiry",
			Message: err.Error(),
		})
		return false, time.Time{}, err
	}
	return expired, at, nil
}
