package controller

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/cronjob"
)

// CronJobEvents returns the handler of the CronJobs' informer. It requests a round immediately, or,
// after a change of the schedule, when the next run of the new schedule is due (C17).
func (c *CronJobs) CronJobEvents(queue Queue[types.NamespacedName]) cache.ResourceEventHandler {
	keep := func(o Object) {
		if c.takes(o) {
			c.kept.add(keyOf(o)) // the CronJob may be gone before its first round
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) {
			keep(o.(Object))
			queue.Add(keyOf(o.(Object)))
		},
		UpdateFunc: func(old, cur any) {
			is := cur.(Object)
			keep(is)
			before, after := c.kind.value(old.(Object)), c.kind.value(is)
			if c.kind.reports() && isTold(old.(Object), is, before.Status, after.Status) {
				return
			}

			was, now := before.Spec, after.Spec
			if was.Schedule == now.Schedule && equality.Semantic.DeepEqual(was.TimeZone, now.TimeZone) {
				queue.Add(keyOf(is))
				return
			}
			if after, ok := c.nextRun(is); ok {
				queue.AddAfter(keyOf(is), after)
			}
		},
		DeleteFunc: func(o any) {
			if object, ok := last[Object](o); ok {
				queue.Add(keyOf(object))
			}
		},
	}
}

// nextRun returns the time until the next run of a new schedule. It is 0 if there is none, and a
// round then reports the reason.
func (c *CronJobs) nextRun(o Object) (after time.Duration, ok bool) {
	value, now := c.kind.value(o), c.options.clock().Now()
	// In a round, the time from which "@every" counts depends on the deadline. Here it does not.
	value.Spec.StartingDeadlineSeconds = nil
	plan, err := cronjob.Reconcile(cronjob.Snapshot{
		CronJob:  value,
		Now:      now,
		Schedule: c.compile(keyOf(o), o, &value),
		Options:  c.options.Planner,
	})
	if err != nil {
		return 0, false
	}
	after, _ = plan.Requeue.After(now)
	return after, true
}

// JobEvents returns the handler of the jobs' informer. It requests a round of the CronJob that
// controls the job, or that controlled it before a change.
func (c *CronJobs) JobEvents(queue Queue[types.NamespacedName]) cache.ResourceEventHandler {
	changed := func(j Object) {
		if owner := c.ownerOf(j); owner != nil {
			queue.Add(keyOf(owner))
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { changed(o.(Object)) },
		UpdateFunc: func(old, cur any) {
			was, is := old.(Object), cur.(Object)
			if c.ownerOf(was) != c.ownerOf(is) {
				changed(was)
			}
			changed(is)
		},
		DeleteFunc: func(o any) {
			if j, ok := last[Object](o); ok {
				changed(j)
			}
		},
	}
}

// ownerOf returns the parent of a child, or nil.
func (c *CronJobs) ownerOf(child Object) Object {
	uid, name := c.kind.owner(child)
	if uid == "" {
		return nil
	}

	if name == "" {
		parents, err := c.cronJobs.ByIndex(c.byUID, ofController(child.GetNamespace(), uid))
		if err != nil || len(parents) == 0 {
			return nil
		}
		return parents[0].(Object)
	}

	owner := c.at(types.NamespacedName{Namespace: c.kind.ownNamespace(child.GetNamespace()), Name: name})
	if owner == nil || owner.GetUID() != uid || c.kind.namespace(owner) != child.GetNamespace() {
		return nil
	}
	return owner
}
