package controller

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/schedule"
)

// CronJobOptions say which CronJobs a controller takes, and how.
type CronJobOptions struct {
	Common
	// Takes reports whether a CronJob is this controller's; nil means that all are. A CronJob
	// has no field like managedBy: the built-in controller takes all, and must be off.
	Takes func(*batchv1.CronJob) bool
	// Planner are the options of the planner, Schedule the ones of [cronjob.Compile].
	Planner  cronjob.Options
	Schedule []schedule.Option
	// LiveReads reads what the built-in controller reads past its caches: the jobs that
	// Replace deletes, and those that Forbid still waits for (C5, C12).
	LiveReads bool
	// Memories keeps the memories between rounds; nil means in this process.
	Memories Memories[cronjob.Memory]
	// Requests are what users ask for besides the schedule; nil means nothing.
	Requests Requests
	Metrics  CronJobMetrics
	Hooks    CronJobHooks
}

// CronJobMetrics are told what the metrics of a CronJob controller measure (C16). Several
// goroutines call them.
type CronJobMetrics interface {
	CronJobRound(m *cronjob.Metrics)
}

// CronJobHooks are told what the controller has seen and decided. Several goroutines call
// them; each may be nil. What they are given is valid until they return.
type CronJobHooks struct {
	// Round is a round that was planned, and what became of the plan.
	Round func(*cronjob.Snapshot, *cronjob.Plan, cronjob.Outcome)
}

// Requests are the runs that users have asked for. Its methods are called by several
// goroutines, but by one at a time for each CronJob. After a new request, call
// [Controller.Enqueue] for the namespace.
type Requests interface {
	// Get returns the open requests of a CronJob.
	Get(cronJob types.NamespacedName) ([]cronjob.Trigger, []cronjob.Backfill)
	// Advance takes out the triggers of these IDs, and stores the backfills in place of
	// those with their IDs or drops them if they are complete.
	Advance(cronJob types.NamespacedName, triggered []string, backfills []cronjob.Backfill)
}

// CronJobs reconciles CronJobs. [NewCronJobs] returns it with a queue and workers.
type CronJobs struct {
	client         kubernetes.Interface
	options        CronJobOptions
	cronJobs, jobs cache.Indexer
	planners       sync.Pool // of *cronjob.Planner

	mu       sync.Mutex
	compiled map[types.NamespacedName]*compiledFor
}

// compiledFor is a schedule, and what it was compiled from.
type compiledFor struct {
	created        time.Time
	schedule, zone string
	hasZone        bool
	result         cronjob.Compiled
}

// NewCronJobs returns a controller of the factory's CronJobs and jobs. Call it before the
// factory starts.
func NewCronJobs(client kubernetes.Interface, factory informers.SharedInformerFactory, o CronJobOptions) (*Controller[types.NamespacedName], error) {
	return NewCronJobsOn(client, factory.Batch().V1().CronJobs().Informer(), factory.Batch().V1().Jobs().Informer(), o)
}

// NewCronJobsOn is NewCronJobs for informers that come from elsewhere.
func NewCronJobsOn(client kubernetes.Interface, cronJobs, jobs cache.SharedIndexInformer, o CronJobOptions) (*Controller[types.NamespacedName], error) {
	r, err := NewCronJobReconciler(client, cronJobs, jobs, o)
	if err != nil {
		return nil, err
	}
	if o.Workers == 0 {
		o.Workers = 5
	}
	c := newController("cronjob", &o.Common, workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]())
	c.reconcile, c.each = r.Reconcile, r.each
	return c, errors.Join(c.watch(jobs, r.JobEvents(c.queue)), c.watch(cronJobs, r.CronJobEvents(c.queue)))
}

// NewCronJobReconciler returns the reconciler alone, as [NewJobReconciler] does.
func NewCronJobReconciler(client kubernetes.Interface, cronJobs, jobs cache.SharedIndexInformer, o CronJobOptions) (*CronJobs, error) {
	if o.Memories == nil {
		o.Memories = &memories[cronjob.Memory]{}
	}
	if err := addIndex(jobs, byRun, runsOf); err != nil {
		return nil, fmt.Errorf("cronjob controller: %w", err)
	}
	return &CronJobs{
		client: client, options: o, cronJobs: cronJobs.GetIndexer(), jobs: jobs.GetIndexer(),
		planners: sync.Pool{New: func() any { return new(cronjob.Planner) }},
		compiled: map[types.NamespacedName]*compiledFor{},
	}, nil
}

// byRun is the index of jobs by the UID of their controller, and by the CronJob of whose runs
// one could have their name: another's job can hold it (C14).
const byRun = "batchplan/run"

func runsOf(object any) (keys []string, err error) {
	j := object.(*batchv1.Job)
	if ref := metav1.GetControllerOfNoCopy(j); ref != nil {
		keys = append(keys, ofController(ref.UID))
	}
	if i := strings.LastIndexByte(j.Name, '-'); i > 0 {
		keys = append(keys, j.Namespace+"/"+j.Name[:i])
	}
	return keys, nil
}

// takes reports whether the CronJob is this controller's and this replica's.
func (c *CronJobs) takes(o *batchv1.CronJob) bool {
	return c.options.serves(o.Namespace) && (c.options.Takes == nil || c.options.Takes(o))
}

// at returns the CronJob of that name, or nil.
func (c *CronJobs) at(key types.NamespacedName) *batchv1.CronJob {
	object, found, err := c.cronJobs.GetByKey(key.String())
	if err != nil || !found {
		return nil
	}
	return object.(*batchv1.CronJob)
}

// children returns the jobs that the CronJob controls, and those that could hold the name of
// a run.
func (c *CronJobs) children(of *batchv1.CronJob) (found []*batchv1.Job) {
	for i, key := range [...]string{ofController(of.UID), of.Namespace + "/" + of.Name} {
		objects, err := c.jobs.ByIndex(byRun, key)
		if err != nil {
			return found // unreachable: the index was added
		}
		for _, o := range objects {
			if j := o.(*batchv1.Job); i == 0 || !metav1.IsControlledBy(j, of) {
				found = append(found, j)
			}
		}
	}
	return found
}

// each adds all CronJobs of some namespaces.
func (c *CronJobs) each(namespace func(string) bool, add func(types.NamespacedName)) {
	for _, o := range c.cronJobs.List() {
		if key := keyOf(o.(*batchv1.CronJob)); namespace(key.Namespace) {
			add(key)
		}
	}
}

// compile compiles the schedule once for each of its versions.
func (c *CronJobs) compile(key types.NamespacedName, value *cronjob.CronJob) cronjob.Compiled {
	now := compiledFor{created: value.CreationTimestamp, schedule: value.Spec.Schedule, hasZone: value.Spec.TimeZone != nil}
	if now.hasZone {
		now.zone = *value.Spec.TimeZone
	}
	c.mu.Lock()
	known := c.compiled[key]
	c.mu.Unlock()
	if known != nil && known.created.Equal(now.created) && known.schedule == now.schedule && known.zone == now.zone && known.hasZone == now.hasZone {
		return known.result
	}
	now.result = cronjob.Compile(value, c.options.Schedule...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compiled[key] = &now
	return now.result
}

// forget drops what is known of a CronJob that is gone, or not this replica's.
func (c *CronJobs) forget(key types.NamespacedName) {
	c.options.Memories.Delete(key)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.compiled, key)
}
