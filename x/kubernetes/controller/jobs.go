package controller

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// JobOptions say which jobs a controller takes, and how.
type JobOptions struct {
	Common
	// ManagedBy is the spec.managedBy of the jobs to take (J3). It is required for jobs of batch/v1, so
	// that no controller gets in the way of the built-in one by accident: that one has the name
	// [job.ControllerName], which jobs without the field also have. For a resource of your own, empty
	// means the objects without the field.
	ManagedBy string
	// Planner are the options of the planner. Its ControllerName is ManagedBy.
	Planner job.Options
	// Groups are required if the Planner has Gangs.
	Groups *Groups
	// Parallel is the number of concurrent writes in a round; 0 is the executor's default.
	Parallel int
	// Stale lets rounds begin although the caches do not show the controller's own writes
	// yet, as before Kubernetes 1.36.
	Stale bool
	// Memories keeps the memories between rounds; nil means in this process.
	Memories Memories[job.Memory]
	// MemoryAnnotation, if set, is the annotation of a job that keeps its backoff over a
	// restart. It costs a request for each round in which the backoff changes.
	MemoryAnnotation string
	// BatchDelay is how long a round waits for more changes of pods or of the status (J43). 0 means
	// one second, as in Kubernetes.
	BatchDelay time.Duration
	// MergeEvents reports the pods that a round has created, or deleted, in one event, which saves a
	// request for each further one. The built-in controller has an event for each pod.
	MergeEvents bool
	Metrics     JobMetrics
	Hooks       JobHooks
}

// JobMetrics receive what the counters of a Job controller count (J42). Several goroutines
// call them.
type JobMetrics interface {
	// Round is a round and how long it took.
	Round(m *job.Metrics, took time.Duration)
	// Tracking is the event of a pod, "add" or "delete", that [job.TrackingEvent] names.
	Tracking(event string)
	// External is a job of another controller, when it is first seen.
	External(managedBy string)
	// Stale is a round that was put off, since that cache does not show own writes (E6).
	Stale(cache schema.GroupResource)
}

// JobHooks receive what the controller has seen and decided. Several goroutines call them;
// each may be nil. What they are given is valid until they return.
type JobHooks struct {
	// Planned is how long the planner took.
	Planned func(time.Duration)
	// Round is a round that was planned, and the results of the plan.
	Round func(*job.Snapshot, *job.Plan, job.Outcome)
}

// Jobs reconciles jobs. [NewJobs] returns it with a queue and workers; on its own it is for
// those who have their own.
type Jobs struct {
	ownedPods
	client  kubernetes.Interface
	options JobOptions

	desks   sync.Pool // of *desk
	tracker expectations.Tracker[types.NamespacedName]
	known   convert.PodCache
	places  sync.Map // the namespaces of pods, by the keys of jobs that are in another or in none
	created creations
	written versions
}

// desk is what a worker uses again and again.
type desk struct {
	planner job.Planner
	objects []*corev1.Pod
	pods    []job.Pod
}

// NewJobs returns a controller of the factory's jobs and pods. Call it before the factory
// starts.
func NewJobs(
	client kubernetes.Interface, factory informers.SharedInformerFactory, o JobOptions,
) (*Controller[types.NamespacedName], error) {
	jobs, pods := factory.Batch().V1().Jobs().Informer(), factory.Core().V1().Pods().Informer()
	return NewJobsOf(BatchJobs(client), client, jobs, pods, o)
}

// NewJobsOf is NewJobs for a resource of your own.
func NewJobsOf[T Object](
	kind Kind[T], client kubernetes.Interface, owners, pods cache.SharedIndexInformer, o JobOptions,
) (*Controller[types.NamespacedName], error) {
	j, err := NewJobReconciler(kind, client, owners, pods, o)
	if err != nil {
		return nil, err
	}

	if o.Workers == 0 {
		o.Workers = 5
	}
	c := newController(kind.controller("job"), &o.Common, JobRateLimiter[types.NamespacedName]())
	c.reconcile, c.each = j.Reconcile, j.each
	err = errors.Join(c.watch(owners, j.OwnerEvents(c.queue)), c.watch(pods, j.PodEvents(c.queue)))
	if o.Planner.Gangs {
		none := cache.ResourceEventHandlerFuncs{} // the caches are waited for; no change of a group needs a round
		err = errors.Join(err, c.watch(o.Groups.workloads, none), c.watch(o.Groups.podGroups, none))
	}
	return c, err
}

// NewJobReconciler returns the reconciler alone. The caller gives the informers the handlers
// OwnerEvents and PodEvents, and calls Reconcile for the keys that these put into a queue.
func NewJobReconciler[T Object](
	kind Kind[T], client kubernetes.Interface, owners, pods cache.SharedIndexInformer, o JobOptions,
) (*Jobs, error) {
	by, err := kind.managedBy(o.ManagedBy)
	if err := errors.Join(kind.complete(), err, o.missing()); err != nil {
		return nil, fmt.Errorf("%s controller: %w", kind.controller("job"), err)
	}

	o.ManagedBy = by
	o.Planner.ControllerName = o.ManagedBy
	if o.Memories == nil {
		o.Memories = &memories[job.Memory]{}
	}
	if o.Metrics == nil {
		o.Metrics = unmeasured{}
	}

	if err := addIndex(pods, byController, controllerOf); err != nil {
		return nil, fmt.Errorf("%s controller: %w", kind.controller("job"), err)
	}

	return &Jobs{
		ownedPods: ownedPods{kind: &kind, owners: owners.GetIndexer(), pods: pods.GetIndexer()},
		client:    client, options: o,
		desks:   sync.Pool{New: func() any { return new(desk) }},
		written: versions{stores: [2]store{ofOwners: storeOf(owners.GetStore()), ofPods: storeOf(pods.GetStore())}},
	}, nil
}

func (o *JobOptions) batchDelay() time.Duration { return cmp.Or(o.BatchDelay, batchDelay) }

// takes reports whether the planner takes a job (J3).
func (c *Jobs) takes(value *job.Job) bool {
	_, ours := job.ManagerOf(value.Spec, c.options.Planner)
	return ours
}

// each adds all jobs of some namespaces.
func (c *Jobs) each(namespace func(string) bool, add func(types.NamespacedName)) {
	for _, o := range c.owners.List() {
		if object := o.(Object); namespace(c.kind.namespace(object)) {
			add(keyOf(object))
		}
	}
}

// unmeasured measures nothing.
type unmeasured struct{}

func (unmeasured) Round(*job.Metrics, time.Duration) {}
func (unmeasured) Tracking(string)                   {}
func (unmeasured) External(string)                   {}
func (unmeasured) Stale(schema.GroupResource)        {}
