package ours

import (
	"reflect"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/job"
)

// unwrap returns the object of a notification, also of one that was missed.
func unwrap[T any](obj any) T {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	return obj.(T)
}

func keyOf(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }

// watchJobs plans at once when a job comes or its spec changes, and batched when
// its status does (J43).
func (c *jobs) watchJobs(informer cache.SharedIndexInformer) {
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			c.options.Figures.foreign(obj.(*batchv1.Job))
			c.queue.Add(keyOf(obj.(*batchv1.Job)))
		},
		UpdateFunc: func(old, cur any) {
			c.jobChanged(old.(*batchv1.Job), cur.(*batchv1.Job))
		},
		DeleteFunc: func(obj any) {
			j := unwrap[*batchv1.Job](obj)
			c.written.forget(keyOf(j), string(j.UID))
			c.queue.Add(keyOf(j))
			c.orphans.Add(orphan{job: keyOf(j), selector: metav1.FormatLabelSelector(j.Spec.Selector)})
		},
	})
	must(err)
}

func (c *jobs) jobChanged(old, cur *batchv1.Job) {
	switch {
	case isFinished(cur):
		c.orphans.Add(orphan{job: keyOf(cur), selector: metav1.FormatLabelSelector(cur.Spec.Selector)})
		return
	case cur.Generation != old.Generation:
		c.queue.Add(keyOf(cur))
	default:
		c.queue.AddAfter(keyOf(cur), batchDelay)
	}
	deadline := cur.Spec.ActiveDeadlineSeconds
	if cur.Status.StartTime == nil || deadline == nil {
		return
	}
	if was := old.Spec.ActiveDeadlineSeconds; was == nil || *was != *deadline {
		due := cur.Status.StartTime.Add(time.Duration(*deadline) * time.Second)
		c.queue.AddAfter(keyOf(cur), time.Until(due))
	}
}

func isFinished(j *batchv1.Job) bool {
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// watchPods tells the expectations what is seen (E1, E4), and plans a second later.
func (c *jobs) watchPods(informer cache.SharedIndexInformer) {
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			c.options.Figures.pod(nil, obj.(*corev1.Pod))
			c.podCame(obj.(*corev1.Pod))
		},
		UpdateFunc: func(old, cur any) {
			c.options.Figures.pod(old.(*corev1.Pod), cur.(*corev1.Pod))
			if cur := cur.(*corev1.Pod); cur.DeletionTimestamp != nil {
				c.podGoes(cur, !hasFinalizer(cur))
			} else {
				c.podChanged(old.(*corev1.Pod), cur)
			}
		},
		DeleteFunc: func(obj any) {
			c.options.Figures.pod(unwrap[*corev1.Pod](obj), nil)
			c.podGoes(unwrap[*corev1.Pod](obj), true)
		},
	})
	must(err)
}

func (c *jobs) podCame(p *corev1.Pod) {
	if p.DeletionTimestamp != nil {
		c.podGoes(p, !hasFinalizer(p))
		return
	}
	if metav1.GetControllerOf(p) != nil {
		if j := c.jobOf(p); j != nil {
			c.tracker.CreationObserved(keyOf(j))
			c.queue.AddAfter(keyOf(j), batchDelay)
		}
		return
	}
	if hasFinalizer(p) {
		c.orphans.Add(orphan{pod: keyOf(p)})
	}
	c.offer(p)
}

func (c *jobs) podChanged(old, cur *corev1.Pod) {
	was, is := metav1.GetControllerOf(old), metav1.GetControllerOf(cur)
	moved := !reflect.DeepEqual(was, is)
	if moved && was != nil {
		c.podTouched(old, cur)
	}
	if is != nil {
		c.podTouched(cur, cur)
		return
	}
	if hasFinalizer(cur) {
		c.orphans.Add(orphan{pod: keyOf(cur)})
	}
	if moved || !reflect.DeepEqual(old.Labels, cur.Labels) {
		c.offer(cur)
	}
}

// podTouched tells the job that the pod has, or had as p, of the pod's news.
func (c *jobs) podTouched(p, cur *corev1.Pod) {
	j := c.jobOf(p)
	if j == nil {
		return
	}
	if !hasFinalizer(cur) {
		c.tracker.UntrackObserved(keyOf(j), string(cur.UID))
	}
	c.queue.AddAfter(keyOf(j), batchDelay)
}

// podGoes is for a pod that is being deleted, or is gone.
func (c *jobs) podGoes(p *corev1.Pod, untracked bool) {
	ref := metav1.GetControllerOf(p)
	if ref == nil {
		if hasFinalizer(p) {
			c.orphans.Add(orphan{pod: keyOf(p)})
		}
		return
	}
	j := c.jobOf(p)
	if j == nil || isFinished(j) {
		if hasFinalizer(p) {
			c.orphans.Add(orphan{pod: keyOf(p)})
		}
		return
	}
	c.tracker.DeletionObserved(keyOf(j))
	if untracked {
		c.tracker.UntrackObserved(keyOf(j), string(p.UID))
	}
	c.queue.AddAfter(keyOf(j), batchDelay)
}

// offer wakes the jobs that could adopt the pod.
func (c *jobs) offer(p *corev1.Pod) {
	list, err := c.jobs.Jobs(p.Namespace).List(everything)
	must(err)
	for _, j := range list {
		decoded := decodeJob(j)
		if job.OwnerOf(&decoded, "", p.Labels) == job.Orphan {
			c.queue.AddAfter(keyOf(j), batchDelay)
		}
	}
}

// jobOf is the job that the pod's controller reference names, or nil.
func (c *jobs) jobOf(p *corev1.Pod) *batchv1.Job {
	ref := metav1.GetControllerOf(p)
	if ref == nil || ref.Kind != "Job" {
		return nil
	}
	j, err := c.jobs.Jobs(p.Namespace).Get(ref.Name)
	if err != nil || j.UID != ref.UID {
		return nil
	}
	return j
}
