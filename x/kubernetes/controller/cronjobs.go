package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

// CronJobOptions are the options of a CronJob controller.
type CronJobOptions struct {
	Common
	// Takes reports whether this controller serves a CronJob; nil means that it serves all. A
	// CronJob has no field like managedBy: the built-in controller takes all CronJobs, and must be
	// off.
	Takes func(Object) bool
	// EditEvents, if set, returns the events to report about a parent. It gets the events of a round,
	// and may edit, drop and add some. If the parent cannot be planned, the round has an empty plan,
	// and the only event gives the reason. The arguments are valid until EditEvents returns.
	EditEvents func(parent Object, round CronJobRound, events []job.Event) []job.Event
	// Planner are the options of the planner, and Schedule are options for cronjob.Compile.
	Planner  cronjob.Options
	Schedule []schedule.Option
	// LiveReads reads from the server what the built-in controller reads past its caches: the jobs
	// that Replace deletes, and those that Forbid still waits for (C5, C12).
	LiveReads bool
	// Memories keeps the memories between rounds; nil means in this process.
	Memories Memories[cronjob.Memory]
	// Requests are the runs that users request besides the schedule; nil means none.
	Requests Requests
	Metrics  CronJobMetrics
	Hooks    CronJobHooks
}

// CronJobMetrics are callbacks for the metrics of a CronJob controller (C16). They are called
// concurrently; each may be nil. Their arguments are valid until they return.
type CronJobMetrics struct {
	// Round is called for each plan of a round, after it was carried out or has failed.
	Round func(CronJobRound)
}

// CronJobHooks are callbacks for what the controller has seen and decided. They are called
// concurrently; each may be nil. Their arguments are valid until they return.
type CronJobHooks struct {
	// Round is called for each plan of a round, after it was carried out or has failed.
	Round func(CronJobRound)
}

// CronJobRound is one plan of a round of a CronJob, after it was carried out.
type CronJobRound struct {
	Snapshot *cronjob.Snapshot
	Plan     *cronjob.Plan
	Outcome  cronjob.Outcome
	Metrics  *cronjob.Metrics
}

// Requests are the runs that users have requested. The methods are called concurrently, but never
// for the same CronJob. After a new request, call [Controller.Enqueue] for the namespace. An error
// fails the round, which is repeated after a growing delay.
type Requests interface {
	// Get returns the open requests of a CronJob. After an error the round decides nothing.
	Get(ctx context.Context, cronJob types.NamespacedName) (Requested, error)
	// Advance stores the progress of a round. After an error, the next round plans the same
	// requests again, but a run whose job exists does not start again.
	Advance(ctx context.Context, cronJob types.NamespacedName, to Advance) error
}

// Requested are the open requests of a CronJob.
type Requested struct {
	Triggers  []cronjob.Trigger
	Backfills []cronjob.Backfill
}

// Advance is the progress that a round has made on requests.
type Advance struct {
	// Triggered are the IDs of the triggers to remove.
	Triggered []string
	// Backfills replace the backfills of the same IDs. A complete one is removed instead.
	Backfills []cronjob.Backfill
}

// CronJobs reconciles CronJobs. [NewCronJobs] adds a queue and workers.
type CronJobs struct {
	kind           cronKind
	options        CronJobOptions
	cronJobs, jobs cache.Indexer
	byRun, byUID   string    // the names of the indexes
	planners       sync.Pool // of *cronjob.Planner
	kept           keySet    // the CronJobs whose memories may be stored, as in Jobs

	mu       sync.Mutex
	compiled map[types.NamespacedName]*cronjob.Compiled
}

// NewCronJobs returns a controller for a kind of parents and a kind of children: those of
// [BatchCronJobs], or resources of your own. Call it before the informers start.
func NewCronJobs[P, C Object](kind Cron[P, C], o CronJobOptions) (*Controller[types.NamespacedName], error) {
	r, err := NewCronJobReconciler(kind, o)
	if err != nil {
		return nil, err
	}

	if o.Workers == 0 {
		o.Workers = 5
	}
	limiter := workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]()
	c := newController(strings.ToLower(kind.Parent.Kind), &o.Common, limiter)
	c.reconcile, c.each = r.Reconcile, r.each
	return c, errors.Join(
		c.watch(kind.ChildInformer, r.JobEvents(c.queue)),
		c.watch(kind.ParentInformer, r.CronJobEvents(c.queue)),
	)
}

// NewCronJobReconciler returns the reconciler alone, as [NewJobReconciler] does.
func NewCronJobReconciler[P, C Object](kind Cron[P, C], o CronJobOptions) (*CronJobs, error) {
	if err := kind.complete(&o); err != nil {
		return nil, err
	}
	if o.Memories == nil {
		o.Memories = &memories[cronjob.Memory]{}
	}

	parents, children := kind.ParentInformer, kind.ChildInformer
	naming := &o.Planner.Naming
	ofRuns := []string{byRun, kind.Parent.Kind, kind.OwnerLabel, naming.Form.String(), naming.Prefix}
	index := strings.Join(ofRuns, "/")
	ofParents := strings.Join([]string{byUID, kind.Parent.Kind, kind.OwnerLabel}, "/")
	err := addIndex(children, index, func(object any) ([]string, error) {
		return runsOf(&kind, naming, object.(Object)), nil
	})
	if err == nil && kind.OwnerLabel != "" {
		err = addIndex(parents, ofParents, func(object any) ([]string, error) {
			o := object.(Object)
			return []string{ofController(kind.namespace(o), o.GetUID())}, nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("%s controller: %w", strings.ToLower(kind.Parent.Kind), err)
	}

	return &CronJobs{
		kind:     &kind,
		options:  o,
		byRun:    index,
		byUID:    ofParents,
		cronJobs: parents.GetIndexer(),
		jobs:     children.GetIndexer(),
		planners: sync.Pool{New: func() any { return new(cronjob.Planner) }},
		compiled: map[types.NamespacedName]*cronjob.Compiled{},
	}, nil
}

// byRun is the index of jobs by up to three keys, each with the namespace. One is the UID of the
// job's controller. One is the name of that controller, which is all that cronjobquirk.ByName
// compares. One is the name of the CronJob whose run could have the name of the job, whoever owns
// the job (C14).
const byRun = "batchplan/run"

func runsOf(kind cronKind, naming *cronjob.Naming, child Object) (keys []string) {
	if uid, _ := kind.owner(child); uid != "" {
		keys = append(keys, ofController(child.GetNamespace(), uid))
	}
	if ref := metav1.GetControllerOfNoCopy(child); ref != nil {
		keys = append(keys, child.GetNamespace()+"/"+ref.Name)
	}
	name, isNamed := strings.CutPrefix(child.GetName(), naming.Prefix)
	if i := strings.LastIndexByte(name, '-'); i > 0 && isNamed && naming.Form != cronjob.NameCustom {
		keys = append(keys, child.GetNamespace()+"/"+name[:i])
	}
	return keys
}

// byUID is the index of parents by their UID and the namespace of their children. It finds the
// parent of a child that does not hold the name of its parent.
const byUID = "batchplan/uid"

// takes reports whether this replica of this controller serves the CronJob.
func (c *CronJobs) takes(o Object) bool {
	return c.options.serves(c.kind.namespace(o)) && (c.options.Takes == nil || c.options.Takes(o))
}

// at returns the CronJob of that name, or nil.
func (c *CronJobs) at(key types.NamespacedName) Object {
	object, found, err := c.cronJobs.GetByKey(named(key))
	if err != nil || !found {
		return nil
	}
	return object.(Object)
}

// children returns the jobs that the CronJob controls, and those that could hold the name of one of
// its runs. All are in the namespace of the CronJob's jobs.
func (c *CronJobs) children(of Object) (found []Object) {
	namespace := c.kind.namespace(of)
	for i, key := range [...]string{ofController(namespace, of.GetUID()), namespace + "/" + of.GetName()} {
		objects, err := c.jobs.ByIndex(c.byRun, key)
		if err != nil {
			return found // unreachable: the index was added
		}
		for _, o := range objects {
			j := o.(Object)
			if uid, _ := c.kind.owner(j); i == 0 || uid != of.GetUID() {
				found = append(found, j)
			}
		}
	}
	return found
}

// each calls add for all CronJobs of some namespaces.
func (c *CronJobs) each(namespace func(string) bool, add func(types.NamespacedName)) {
	for _, o := range c.cronJobs.List() {
		if object := o.(Object); namespace(c.kind.namespace(object)) {
			add(keyOf(object))
		}
	}
}

// compile returns the compiled schedule. It compiles each version of a schedule only once.
func (c *CronJobs) compile(key types.NamespacedName, o Object, value *cronjob.CronJob) cronjob.Compiled {
	if own, ok := c.kind.schedule(o); ok { // these options may change at any time
		return cronjob.Compile(value, append(slices.Clip(c.options.Schedule), own...)...)
	}

	c.mu.Lock()
	known := c.compiled[key]
	c.mu.Unlock()
	if known != nil && known.IsFor(value) {
		return *known
	}

	compiled := cronjob.Compile(value, c.options.Schedule...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compiled[key] = &compiled
	return compiled
}

// forget drops what is known about a CronJob that is gone, or that this replica does not serve.
func (c *CronJobs) forget(ctx context.Context, key types.NamespacedName, isGone bool) error {
	c.mu.Lock()
	delete(c.compiled, key)
	c.mu.Unlock()
	return c.of(key, forget(ctx, &c.kept, c.options.Memories, key, isGone))
}

// of adds the name of the CronJob to an error.
func (c *CronJobs) of(key types.NamespacedName, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", c.kind.parent().Kind, named(key), err)
}
