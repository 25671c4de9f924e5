package ours

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	"k8s.io/client-go/kubernetes"
	batchlisters "k8s.io/client-go/listers/batch/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/examples/kubernetes/convert"
	"github.com/batchplan/batchplan/internal/conformance/series"
	"github.com/batchplan/batchplan/job"
)

// cronJobs is the CronJob controller.
type cronJobs struct {
	client   kubernetes.Interface
	jobs     batchlisters.JobLister
	cronJobs batchlisters.CronJobLister
	queue    queue[string]
	reporter reporter
	options  Options

	planner  cronjob.Planner
	memories map[string]cronjob.Memory // the worker's own
}

func newCronJobs(client kubernetes.Interface, js batchinformers.JobInformer, cs batchinformers.CronJobInformer, r reporter, o Options) *cronJobs {
	c := &cronJobs{
		client: client, jobs: js.Lister(), cronJobs: cs.Lister(), reporter: r, options: o,
		queue:    workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		memories: map[string]cronjob.Memory{},
	}
	c.watch(js.Informer(), cs.Informer())
	return c
}

// watch plans when a CronJob or one of its jobs changes (C17).
func (c *cronJobs) watch(js, cs cache.SharedIndexInformer) {
	_, err := js.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { c.jobChanged(obj.(*batchv1.Job)) },
		UpdateFunc: func(old, cur any) {
			if was := old.(*batchv1.Job); !reflect.DeepEqual(metav1.GetControllerOf(was), metav1.GetControllerOf(cur.(*batchv1.Job))) {
				c.jobChanged(was)
			}
			c.jobChanged(cur.(*batchv1.Job))
		},
		DeleteFunc: func(obj any) { c.jobChanged(unwrap[*batchv1.Job](obj)) },
	})
	must(err)
	_, err = cs.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { c.queue.Add(keyOf(obj.(*batchv1.CronJob))) },
		UpdateFunc: func(old, cur any) { c.changed(old.(*batchv1.CronJob), cur.(*batchv1.CronJob)) },
		DeleteFunc: func(obj any) { c.queue.Add(keyOf(unwrap[*batchv1.CronJob](obj))) },
	})
	must(err)
}

func (c *cronJobs) jobChanged(j *batchv1.Job) {
	ref := metav1.GetControllerOf(j)
	if ref == nil || ref.Kind != "CronJob" {
		return
	}
	if owner, err := c.cronJobs.CronJobs(j.Namespace).Get(ref.Name); err == nil && owner.UID == ref.UID {
		c.queue.Add(keyOf(owner))
	}
}

// changed waits for the next run after a change of the schedule (C17).
func (c *cronJobs) changed(old, cur *batchv1.CronJob) {
	if old.Spec.Schedule == cur.Spec.Schedule && reflect.DeepEqual(old.Spec.TimeZone, cur.Spec.TimeZone) {
		c.queue.Add(keyOf(cur))
		return
	}
	decoded := convert.CronJob(cur)
	// A deadline moves what `@every` counts from in a round, and does not here.
	decoded.Spec.StartingDeadlineSeconds = nil
	plan, err := cronjob.Reconcile(cronjob.Snapshot{
		CronJob: decoded, Now: time.Now(), Schedule: cronjob.Compile(&decoded, c.options.Schedule...), Options: c.options.CronJob,
	})
	switch {
	case err != nil:
	case plan.Requeue.At.IsZero():
		c.queue.Add(keyOf(cur)) // it never runs, and a round says so
	default:
		c.queue.AddAfter(keyOf(cur), time.Until(plan.Requeue.At))
	}
}

func (c *cronJobs) Work(context.Context) {
	for {
		key, quit := c.queue.Get()
		if quit {
			return
		}
		requeue, err := c.round(key)
		switch {
		case err != nil:
			c.queue.AddRateLimited(key)
		case !requeue.At.IsZero():
			after, _ := requeue.After(time.Now())
			c.queue.Forget(key)
			c.queue.AddAfter(key, after)
		}
		c.queue.Done(key)
	}
}

// round is one round of one CronJob.
func (c *cronJobs) round(key string) (cronjob.Requeue, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	must(err)
	object, err := c.cronJobs.CronJobs(namespace).Get(name)
	if err != nil {
		delete(c.memories, key)
		return cronjob.Requeue{}, nil
	}
	decoded := convert.CronJob(object)
	snapshot := cronjob.Snapshot{
		CronJob: decoded, Now: time.Now(), Schedule: cronjob.Compile(&decoded, c.options.Schedule...),
		Memory: c.memories[key], Options: c.options.CronJob,
	}
	list, err := c.jobs.Jobs(namespace).List(labels.Everything())
	must(err)
	for _, j := range list {
		snapshot.Children = append(snapshot.Children, convert.Child(&decoded, j))
	}
	for {
		end, written, err := c.plan(key, &snapshot, object)
		if err != nil || written == nil || end.Requeue.At.After(snapshot.Now) || end.Requeue.At.IsZero() {
			return end.Requeue, err
		}
		// More is to do at once, and the cache does not show yet what was written.
		object, snapshot.Memory = written, end.Memory
		snapshot.CronJob.Status = convert.CronJob(written).Status
	}
}

// plan makes one plan and carries it out. It returns the CronJob if that was written.
func (c *cronJobs) plan(key string, snapshot *cronjob.Snapshot, object *batchv1.CronJob) (end cronjob.Conclusion, written *batchv1.CronJob, err error) {
	plan, err := c.planner.Reconcile(snapshot)
	if err == nil && len(plan.Unexpected) > 0 {
		plan, object, err = c.planAgain(snapshot, plan, object)
	}
	if err != nil {
		return end, nil, fmt.Errorf("CronJob %s: %w", key, err)
	}
	backend := c.newBackend(object)
	end, err = cronjobapply.Executor{}.Apply(context.Background(), backend, plan)
	c.options.Watch.CronJob(snapshot, plan, end.Outcome)
	c.options.Figures.add(series.CronJob(&end.Metrics))
	c.memories[key] = end.Memory
	c.reporter.report(object, end.Events)
	switch {
	case !end.Retry:
		return end, backend.written, nil
	case c.passesGone(snapshot, plan, &end.Outcome):
		snapshot.Memory = end.Memory
		return c.plan(key, snapshot, object)
	}
	return end, nil, errors.Join(err, errors.New("to be repeated"))
}

// passesGone takes the active jobs that the round has found gone off the snapshot's
// list, and reports whether there were any. The real controller starts the run that
// Forbid has held back for them in the same round, whether or not the status can be
// written; the library would first write the status.
func (c *cronJobs) passesGone(s *cronjob.Snapshot, plan *cronjob.Plan, o *cronjob.Outcome) bool {
	if !c.options.LiveReads || s.CronJob.Spec.ConcurrencyPolicy != cronjob.Forbid {
		return false
	}
	gone := map[job.UID]bool{}
	for i, r := range o.Verified {
		if r == cronjob.ResultGone {
			gone[plan.Verify[i].UID] = true
		}
	}
	left := slices.DeleteFunc(slices.Clone(s.CronJob.Status.Active), func(r cronjob.Reference) bool { return gone[r.UID] })
	passed := len(left) < len(s.CronJob.Status.Active)
	s.CronJob.Status.Active = left
	return passed
}

// planAgain plans from the status of a fresh look, if that names a job which the status of
// the cache does not: the children may be ahead of the cache of CronJobs (C3).
func (c *cronJobs) planAgain(s *cronjob.Snapshot, plan *cronjob.Plan, object *batchv1.CronJob) (*cronjob.Plan, *batchv1.CronJob, error) {
	fresh, err := c.client.BatchV1().CronJobs(object.Namespace).Get(context.Background(), object.Name, metav1.GetOptions{})
	if err != nil {
		return plan, object, err
	}
	status := convert.CronJob(fresh).Status
	names := func(r cronjob.Reference) bool {
		return slices.ContainsFunc(status.Active, func(a cronjob.Reference) bool { return a.UID == r.UID })
	}
	if !slices.ContainsFunc(plan.Unexpected, names) {
		return plan, object, nil
	}
	s.CronJob.Status = status
	plan, err = c.planner.Reconcile(s)
	if s.Options.Quirks != 0 {
		fresh = object // theirs writes on the version of the cache, which is a conflict
	}
	return plan, fresh, err
}

// ShutDown ends Work.
func (c *cronJobs) ShutDown() { c.queue.ShutDown() }
