package ours

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	batchlisters "k8s.io/client-go/listers/batch/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/conformance/series"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

// The delays of J43.
const (
	batchDelay = time.Second
	retryBase  = time.Second
	retryMax   = time.Minute
)

// jobs is the job controller.
type jobs struct {
	client   kubernetes.Interface
	pods     corelisters.PodLister
	jobs     batchlisters.JobLister
	byOwner  cache.Indexer
	queue    queue[string]
	orphans  queue[orphan]
	reporter reporter
	options  Options

	planner  job.Planner
	tracker  expectations.Tracker[string]
	memories map[string]job.Memory     // by key; the worker's own
	decoded  map[decodedKey]decodedPod // the worker's own
	written  versions
}

func newJobs(client kubernetes.Interface, pods coreinformers.PodInformer, js batchinformers.JobInformer, r reporter, o Options) *jobs {
	c := &jobs{
		client: client, pods: pods.Lister(), jobs: js.Lister(), reporter: r, options: o,
		queue:    workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](retryBase, retryMax)),
		orphans:  workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[orphan](retryBase, retryMax)),
		memories: o.Memories,
		decoded:  map[decodedKey]decodedPod{},
	}
	if c.memories == nil {
		c.memories = map[string]job.Memory{}
	}
	c.written.stores = map[string]store{"pods": pods.Informer().GetStore(), "jobs": js.Informer().GetStore()}
	c.watchJobs(js.Informer())
	c.watchPods(pods.Informer())
	c.byOwner = pods.Informer().GetIndexer()
	return c
}

func (c *jobs) work(context.Context) {
	for process(c.queue, c.round) {
	}
}

// round is one round of one job.
func (c *jobs) round(key string) error {
	if err := c.written.check(key); err != nil && !c.options.Stale {
		c.options.Watch.Stale()
		return err
	}
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	must(err)
	object, err := c.jobs.Jobs(namespace).Get(name)
	if err != nil { // not found is the only error of a lister
		c.tracker.Forget(key)
		delete(c.memories, key)
		c.written.forget(key, "")
		return nil
	}
	decoded := decodeJob(object)
	if decoded.Status.Finished() != "" {
		delete(c.memories, key)
		c.written.forget(key, decoded.UID)
		return nil
	}
	snapshot := job.Snapshot{Job: decoded, Now: time.Now(), Memory: c.memories[key], Options: c.options.Job}
	snapshot.Pods = c.podsOf(&decoded)
	snapshot.Memory.Expectations, snapshot.Memory.Untracking = c.tracker.Snapshot(key)
	for {
		gone, err := c.plan(key, object, &snapshot)
		if gone == "" {
			return err
		}
		// An orphan that was to be adopted is gone: the plan has counted on it.
		snapshot.Pods = slices.DeleteFunc(snapshot.Pods, func(p job.Pod) bool { return p.UID == gone })
	}
}

// plan makes one plan and carries it out.
func (c *jobs) plan(key string, object *batchv1.Job, snapshot *job.Snapshot) (gone string, err error) {
	before := time.Now()
	plan, err := c.planner.Reconcile(snapshot)
	if c.options.Planning != nil {
		c.options.Planning(time.Since(before))
	}
	if err != nil {
		return "", fmt.Errorf("job %s: %w", key, err)
	}
	return c.carryOut(key, object, snapshot, plan)
}

// carryOut executes the plan, and keeps and reports what comes of it.
func (c *jobs) carryOut(key string, object *batchv1.Job, snapshot *job.Snapshot, plan *job.Plan) (gone string, err error) {
	backend := &backend{jobs: c, key: key, object: object, decoded: &snapshot.Job}
	executor := jobapply.Executor{Expectations: jobExpectations{&c.tracker, key}}
	end, err := executor.Apply(context.Background(), backend, plan)
	c.options.Watch.Job(snapshot, plan, end.Outcome)
	c.memories[key] = end.Memory
	c.reporter.report(object, end.Events)
	if backend.gone != "" {
		return backend.gone, nil
	}
	c.options.Figures.add(series.Job(&end.Metrics))
	claimed := len(plan.Adopt)+len(plan.Release) == 0 || end.Outcome.Claimed == job.ResultDone
	if after, ok := plan.Requeue.After(time.Now()); ok && claimed {
		c.queue.AddAfter(key, after)
	}
	if end.Retry && err == nil {
		err = fmt.Errorf("job %s: to be repeated", key)
	}
	if !end.Retry {
		return "", nil
	}
	return "", err
}

// podsOf returns the pods that could be the job's.
func (c *jobs) podsOf(j *job.Job) []job.Pod {
	objects, err := c.pods.Pods(j.Namespace).List(labels.Everything())
	must(err)
	var out []job.Pod
	for _, o := range objects {
		if ref := metav1.GetControllerOf(o); ref != nil && string(ref.UID) != j.UID {
			continue
		}
		if p := c.decodePod(j, o); p.Owner != job.Foreign {
			out = append(out, p)
		}
	}
	return out
}

// jobExpectations tells the tracker of one job's writes.
type jobExpectations struct {
	tracker *expectations.Tracker[string]
	key     string
}

func (e jobExpectations) Expect(creations, deletions int) {
	e.tracker.Expect(e.key, creations, deletions, time.Now())
}
func (e jobExpectations) Lower(creations, deletions int) {
	e.tracker.Lower(e.key, creations, deletions)
}

// The reference expects only the finalizers of pods that it counts, and not those of pods
// that it deletes: the backend tells the tracker of them.
func (jobExpectations) ExpectUntracked(...string) {}
func (jobExpectations) UntrackObserved(string)    {}

func hasFinalizer(p *corev1.Pod) bool {
	for _, f := range p.Finalizers {
		if f == job.Finalizer {
			return true
		}
	}
	return false
}
