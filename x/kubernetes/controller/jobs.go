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
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// JobOptions are the options of a Job controller.
type JobOptions struct {
	Common
	// ManagedBy is the spec.managedBy of the jobs to take (J3). It is required for jobs of
	// batch/v1, so that no controller gets in the way of the built-in one by accident. The built-in
	// controller is job.ControllerName, and jobs without the field are its jobs. For a resource
	// of your own, the empty string means the objects without the field.
	ManagedBy string
	// Planner are the options of the planner. Its ControllerName is set to ManagedBy.
	Planner job.Options
	// Groups are required if Planner.Gangs is set.
	Groups *Groups
	// Parallel is the number of concurrent writes in a round; 0 is the executor's default.
	Parallel int
	// Stale lets rounds begin although the caches do not show the controller's own writes
	// yet, as before Kubernetes 1.36.
	Stale bool
	// Memories keeps the memories between rounds; nil means in this process.
	Memories Memories[job.Memory]
	// MemoryAnnotation, if set, is the annotation of a job that stores its backoff, which then
	// survives a restart. It costs a request for each round in which the backoff changes.
	MemoryAnnotation string
	// BatchDelay is how long a round waits for more changes of pods or of the status (J43). 0 means
	// one second, as in Kubernetes. When the last pod of a job has ended, the round does not wait,
	// except with jobquirk.CoarseRequeue.
	BatchDelay time.Duration
	// MergeEvents reports all pods that a round creates in one event, and all that it deletes in
	// another, to save requests. The built-in controller reports an event for each pod.
	MergeEvents bool
	Metrics     JobMetrics
	Hooks       JobHooks
}

// JobMetrics are callbacks for the counters of a Job controller (J42). They are called
// concurrently; each may be nil. Their arguments are valid until they return.
type JobMetrics struct {
	// Round is called after each round.
	Round func(JobRound)
	// Tracking is called with the event of a changed pod, "add" or "delete" (see job.Metrics).
	Tracking func(event string)
	// External is called with the spec.managedBy of each new job of another controller.
	External func(managedBy string)
	// Stale is called when a round is delayed because the cache does not show the controller's own
	// writes yet (E6).
	Stale func(cache schema.GroupResource)
}

// JobHooks are callbacks for what the controller has seen and decided. They are called
// concurrently; each may be nil. Their arguments are valid until they return.
type JobHooks struct {
	// Planned is called with the time that the planner took.
	Planned func(took time.Duration)
	// Round is called after each round.
	Round func(JobRound)
}

// JobRound is a round of a job that was planned and carried out.
type JobRound struct {
	Snapshot *job.Snapshot
	Plan     *job.Plan
	Outcome  job.Outcome
	Metrics  *job.Metrics
	// Took is how long the round took, with its writes.
	Took time.Duration
}

// Jobs reconciles jobs. [NewJobs] adds a queue and workers; [NewJobReconciler] does not.
type Jobs struct {
	ownedPods
	client  kubernetes.Interface
	options JobOptions

	desks   sync.Pool // of *desk
	tracker expectations.Tracker[types.NamespacedName]
	known   convert.PodCache
	places  sync.Map // the pods' namespaces by job, for jobs that have no namespace or whose pods are in another
	kept    keySet   // the jobs whose memories may be stored; other memories of the store are not touched
	created creations
	written versions
	ends    ends
}

// desk holds buffers that rounds reuse.
type desk struct {
	planner job.Planner
	objects []*corev1.Pod
	pods    []job.Pod
}

// NewJobs returns a controller of the objects of a kind: [BatchJobs], or a resource of your own. Call it before the
// informers start.
func NewJobs[T Object](kind Kind[T], o JobOptions) (*Controller[types.NamespacedName], error) {
	j, err := NewJobReconciler(kind, o)
	if err != nil {
		return nil, err
	}

	if o.Workers == 0 {
		o.Workers = 5
	}
	c := newController(kind.controller("job"), &o.Common, JobRateLimiter[types.NamespacedName]())
	c.reconcile, c.each = j.Reconcile, j.each
	err = errors.Join(
		c.watch(kind.ObjectInformer, j.OwnerEvents(c.queue)),
		c.watch(kind.PodInformer, j.PodEvents(c.queue)),
	)
	if o.Planner.Gangs {
		none := cache.ResourceEventHandlerFuncs{} // waits for the caches; a change of a group needs no round
		err = errors.Join(err, c.watch(o.Groups.workloads, none), c.watch(o.Groups.podGroups, none))
	}
	return c, err
}

// NewJobReconciler returns the reconciler alone. The caller adds the handlers OwnerEvents and
// PodEvents to the informers, and calls Reconcile for the keys that they put into a queue.
func NewJobReconciler[T Object](kind Kind[T], o JobOptions) (*Jobs, error) {
	by, err := kind.managedBy(o.ManagedBy, &o.Planner)
	if err := errors.Join(kind.complete(true), err, o.missing()); err != nil {
		return nil, fmt.Errorf("%s controller: %w", kind.controller("job"), err)
	}

	o.Planner.ControllerName = by
	if o.Memories == nil {
		o.Memories = &memories[job.Memory]{}
	}

	owners, pods := kind.ObjectInformer, kind.PodInformer
	if err := addIndex(pods, byController, controllerOf); err != nil {
		return nil, fmt.Errorf("%s controller: %w", kind.controller("job"), err)
	}

	return &Jobs{
		ownedPods: ownedPods{kind: &kind, owners: owners.GetIndexer(), pods: pods.GetIndexer()},
		client:    kind.PodClient, options: o,
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

// each calls add for all jobs of some namespaces.
func (c *Jobs) each(namespace func(string) bool, add func(types.NamespacedName)) {
	for _, o := range c.owners.List() {
		if object := o.(Object); namespace(c.kind.namespace(object)) {
			add(keyOf(object))
		}
	}
}
