package controller

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// jobEvents are the handlers that fill one queue.
type jobEvents struct {
	*Jobs
	queue Queue[types.NamespacedName]
}

// OwnerEvents returns the handler of the jobs' informer. It requests a round immediately when a job
// appears or its spec changes, and after the batch delay when its status changes (J43).
func (c *Jobs) OwnerEvents(queue Queue[types.NamespacedName]) cache.ResourceEventHandler {
	h := jobEvents{c, queue}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { h.jobAppeared(o.(Object)) },
		UpdateFunc: func(old, cur any) { h.jobChanged(old.(Object), cur.(Object)) },
		DeleteFunc: func(o any) {
			if object, ok := last[Object](o); ok {
				c.written.observe(ofOwners, object.GetResourceVersion())
				c.written.forget(keyOf(object), object.GetUID())
				queue.Add(keyOf(object))
			}
		},
	}
}

// PodEvents returns the handler of the pods' informer. It updates the expectations (E1, E4), and
// requests a round a second later (J43).
func (c *Jobs) PodEvents(queue Queue[types.NamespacedName]) cache.ResourceEventHandler {
	h := jobEvents{c, queue}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) {
			h.seen(nil, o.(*corev1.Pod))
			h.podAppeared(o.(*corev1.Pod))
		},
		UpdateFunc: func(old, cur any) {
			h.seen(old.(*corev1.Pod), cur.(*corev1.Pod))
			h.podChanged(old.(*corev1.Pod), cur.(*corev1.Pod))
		},
		DeleteFunc: func(o any) {
			if p, ok := last[*corev1.Pod](o); ok {
				h.seen(p, nil)
				h.podLeaves(p, nil)
			}
		},
	}
}

func (h jobEvents) jobAppeared(o Object) {
	h.written.observe(ofOwners, o.GetResourceVersion())
	value := h.kind.value(o)
	by, ours := job.ManagerOf(value.Spec, h.options.Planner)
	if ours {
		h.kept.add(keyOf(o)) // the job may be gone before its first round
	}
	if !ours && by != job.ControllerName && h.options.Metrics.External != nil {
		h.options.Metrics.External(by)
	}
	h.queue.Add(keyOf(o))
}

func (h jobEvents) jobChanged(old, cur Object) {
	h.written.observe(ofOwners, cur.GetResourceVersion())
	was, is := h.kind.value(old), h.kind.value(cur)
	switch {
	case is.Status.Finished() != "", h.kind.reports() && isTold(old, cur, was.Status, is.Status):
		return
	case cur.GetGeneration() != old.GetGeneration():
		h.queue.Add(keyOf(cur))
	default:
		h.queue.AddAfter(keyOf(cur), h.options.batchDelay())
	}

	before, now := was.Spec.ActiveDeadlineSeconds, is.Spec.ActiveDeadlineSeconds
	isSame := before != nil && now != nil && *before == *now
	if is.Status.StartTime.IsZero() || now == nil || isSame {
		return
	}
	h.queue.AddAfter(keyOf(cur), is.Status.StartTime.Add(time.Duration(*now)*time.Second).Sub(h.options.clock().Now()))
}

func (h jobEvents) podAppeared(p *corev1.Pod) {
	if p.DeletionTimestamp != nil {
		h.podLeaves(nil, p)
		return
	}
	if metav1.GetControllerOfNoCopy(p) == nil {
		h.offer(p)
		return
	}
	if owner := h.ownerOf(p); owner != nil {
		h.tracker.Observe(keyOf(owner), nil, sight(p))
		h.queue.AddAfter(keyOf(owner), h.options.batchDelay())
	}
}

func (h jobEvents) podChanged(old, cur *corev1.Pod) {
	if cur.DeletionTimestamp != nil {
		h.podLeaves(old, cur)
		return
	}

	was, is := metav1.GetControllerOfNoCopy(old), metav1.GetControllerOfNoCopy(cur)
	moved := !equality.Semantic.DeepEqual(was, is)
	if moved {
		h.podTouched(old, old, cur)
	}
	if is != nil {
		h.podTouched(cur, old, cur)
		return
	}
	if moved || !equality.Semantic.DeepEqual(old.Labels, cur.Labels) {
		h.offer(cur)
	}
}

// podTouched notifies the job that controls p of the change from old to cur. p is one of the two.
func (h jobEvents) podTouched(p, old, cur *corev1.Pod) {
	owner := h.ownerOf(p)
	if owner == nil {
		return
	}
	h.tracker.Observe(keyOf(owner), sight(old), sight(cur))
	h.queue.AddAfter(keyOf(owner), h.options.batchDelay())
}

// podLeaves handles a pod that is being deleted, or is gone if cur is nil.
func (h jobEvents) podLeaves(old, cur *corev1.Pod) {
	owner := h.ownerOf(cmp.Or(cur, old))
	if owner == nil {
		return
	}
	if value := h.kind.value(owner); value.Status.Finished() != "" {
		return
	}
	h.tracker.Observe(keyOf(owner), sight(old), sight(cur))
	h.queue.AddAfter(keyOf(owner), h.options.batchDelay())
}

// offer requests rounds of the jobs that could adopt the pod.
func (h jobEvents) offer(p *corev1.Pod) {
	for _, owner := range h.ownersIn(p.Namespace) {
		value := h.kind.value(owner)
		if job.OwnerOf(&value, "", p.Labels) == jobpod.Orphan {
			h.queue.AddAfter(keyOf(owner), h.options.batchDelay())
		}
	}
}

// seen counts pods that have ended with the finalizer and pods that have lost it, and records the
// version of the notification.
func (h jobEvents) seen(old, cur *corev1.Pod) {
	event := trackingEvent(old, cur)
	if event != "" && h.options.Metrics.Tracking != nil {
		h.options.Metrics.Tracking(event)
	}
	h.written.observe(ofPods, cmp.Or(cur, old).ResourceVersion)
}

// sight returns the part of a pod that the expectations use.
func sight(p *corev1.Pod) *expectations.Sight {
	if p == nil {
		return nil
	}
	return &expectations.Sight{
		UID:       job.UID(p.UID),
		Deleting:  p.DeletionTimestamp != nil,
		Untracked: !convert.IsTracked(p),
	}
}

func hasEnded(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// trackingEvent returns what the change of a pod adds to terminated_pods_tracking_finalizer_total (J42), or "".
func trackingEvent(before, after *corev1.Pod) string {
	counts := func(p *corev1.Pod) bool { return p != nil && convert.IsTracked(p) && hasEnded(p) }
	switch was, is := counts(before), counts(after); {
	case was == is:
		return ""
	case is:
		return "add"
	}
	return "delete"
}
