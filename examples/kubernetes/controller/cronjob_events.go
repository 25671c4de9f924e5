package controller

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/examples/kubernetes/convert"
)

// CronJobEvents returns the handler of the CronJobs' informer. It asks for a round at once,
// and after a change of the schedule when its next run is due (C17).
func (c *CronJobs) CronJobEvents(queue Queue[types.NamespacedName]) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { queue.Add(keyOf(o.(*batchv1.CronJob))) },
		UpdateFunc: func(old, cur any) {
			was, is := old.(*batchv1.CronJob), cur.(*batchv1.CronJob)
			if was.Spec.Schedule == is.Spec.Schedule && equality.Semantic.DeepEqual(was.Spec.TimeZone, is.Spec.TimeZone) {
				queue.Add(keyOf(is))
				return
			}
			if after, ok := c.nextRun(is); ok {
				queue.AddAfter(keyOf(is), after)
			}
		},
		DeleteFunc: func(o any) {
			if object, ok := last[*batchv1.CronJob](o); ok {
				queue.Add(keyOf(object))
			}
		},
	}
}

// nextRun returns how long it is until the next run of a new schedule. It is 0 without one: a
// round says why.
func (c *CronJobs) nextRun(o *batchv1.CronJob) (after time.Duration, ok bool) {
	value, now := convert.CronJob(o), time.Now()
	// A deadline moves what "@every" counts from in a round, and does not here.
	value.Spec.StartingDeadlineSeconds = nil
	plan, err := cronjob.Reconcile(cronjob.Snapshot{
		CronJob: value, Now: now, Schedule: c.compile(keyOf(o), &value), Options: c.options.Planner,
	})
	if err != nil {
		return 0, false
	}
	after, _ = plan.Requeue.After(now)
	return after, true
}

// JobEvents returns the handler of the jobs' informer. It asks for a round of the CronJob that
// controls the job, or did.
func (c *CronJobs) JobEvents(queue Queue[types.NamespacedName]) cache.ResourceEventHandler {
	changed := func(j *batchv1.Job) {
		ref := metav1.GetControllerOfNoCopy(j)
		if ref == nil || ref.Kind != "CronJob" {
			return
		}
		key := types.NamespacedName{Namespace: j.Namespace, Name: ref.Name}
		if owner := c.at(key); owner != nil && owner.UID == ref.UID {
			queue.Add(key)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { changed(o.(*batchv1.Job)) },
		UpdateFunc: func(old, cur any) {
			was, is := old.(*batchv1.Job), cur.(*batchv1.Job)
			if !equality.Semantic.DeepEqual(metav1.GetControllerOfNoCopy(was), metav1.GetControllerOfNoCopy(is)) {
				changed(was)
			}
			changed(is)
		},
		DeleteFunc: func(o any) {
			if j, ok := last[*batchv1.Job](o); ok {
				changed(j)
			}
		},
	}
}
