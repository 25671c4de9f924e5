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
	"github.com/batchplan/batchplan/job/jobquirk"
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
// requests a round: immediately when the last pod of a job has ended, otherwise after the batch
// delay (J43). Call it once: the handler counts pods.
func (c *Jobs) PodEvents(queue Queue[types.NamespacedName]) cache.ResourceEventHandler {
	h := jobEvents{c, queue}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) {
			h.seen(nil, o.(*corev1.Pod))
			h.podAppeared(o.(*corev1.Pod))
		},
		UpdateFunc: func(old, cur any) {
			wasLast := h.seen(old.(*corev1.Pod), cur.(*corev1.Pod))
			h.podChanged(old.(*corev1.Pod), cur.(*corev1.Pod), wasLast)
		},
		DeleteFunc: func(o any) {
			if p, ok := last[*corev1.Pod](o); ok {
				h.seen(p, nil)
				h.podLeaves(p, nil, false)
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
	h.arrived(keyOf(cur))
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
		h.podLeaves(nil, p, false)
		return
	}
	if metav1.GetControllerOfNoCopy(p) == nil {
		h.offer(p)
		return
	}
	h.podTouched(p, nil, p, false)
}

// podChanged handles a change of a pod. wasLast is set if the last pod of its controller has ended.
func (h jobEvents) podChanged(old, cur *corev1.Pod, wasLast bool) {
	if cur.DeletionTimestamp != nil {
		h.podLeaves(old, cur, wasLast)
		return
	}

	was, is := metav1.GetControllerOfNoCopy(old), metav1.GetControllerOfNoCopy(cur)
	moved := !equality.Semantic.DeepEqual(was, is)
	if moved {
		h.podTouched(old, old, cur, wasLast)
	}
	if is != nil {
		h.podTouched(cur, old, cur, wasLast && !moved)
		return
	}
	if moved || !equality.Semantic.DeepEqual(old.Labels, cur.Labels) {
		h.offer(cur)
	}
}

// podTouched notifies the job that controls p of the change from old to cur. p is one of the two.
func (h jobEvents) podTouched(p, old, cur *corev1.Pod, wasLast bool) {
	if owner := h.ownerOf(p); owner != nil {
		h.notify(keyOf(owner), old, cur, wasLast)
	}
}

// podLeaves handles a pod that is being deleted, or is gone if cur is nil.
func (h jobEvents) podLeaves(old, cur *corev1.Pod, wasLast bool) {
	owner := h.ownerOf(cmp.Or(cur, old))
	if owner == nil {
		return
	}
	if value := h.kind.value(owner); value.Status.Finished() != "" {
		return
	}
	h.notify(keyOf(owner), old, cur, wasLast)
}

// notify records the change of a pod, and requests a round of its job. If the last pod has ended,
// and no pod that the job has created is still to be seen, there is nothing to wait for.
func (h jobEvents) notify(key types.NamespacedName, old, cur *corev1.Pod, wasLast bool) {
	h.tracker.Observe(key, sight(old), sight(cur))
	if wasLast && h.isPrompt() && h.tracker.Satisfied(key, h.options.clock().Now()) {
		h.ends.due(key)
		h.queue.Add(key)
		return
	}
	h.arrived(key)
	h.queue.AddAfter(key, h.options.batchDelay())
}

// arrived requests the round that was due immediately and had to wait for the caches, if they show
// the job's own writes now.
func (h jobEvents) arrived(key types.NamespacedName) {
	if h.ends.isDue(key) && h.written.check(key) == nil {
		h.queue.Add(key)
	}
}

// isPrompt reports whether a round does not wait when there is nothing to wait for.
func (c *Jobs) isPrompt() bool { return !c.options.Planner.Quirks.Has(jobquirk.CoarseRequeue) }

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
// version of the notification. It reports whether the last pod of its controller has ended. A pod
// that is gone without an end is replaced after the batch delay: another client may delete them all.
func (h jobEvents) seen(old, cur *corev1.Pod) (wasLast bool) {
	event := trackingEvent(old, cur)
	if event != "" && h.options.Metrics.Tracking != nil {
		h.options.Metrics.Tracking(event)
	}
	h.written.observe(ofPods, cmp.Or(cur, old).ResourceVersion)
	isLast := h.ends.observe(h.runsFor(old), h.runsFor(cur))
	return isLast && cur != nil && hasEnded(cur)
}

// runsFor returns the controller for which a pod can still end, or none.
func (h jobEvents) runsFor(p *corev1.Pod) podController {
	if p == nil || hasEnded(p) {
		return podController{}
	}
	ref := metav1.GetControllerOfNoCopy(p)
	if ref == nil || ref.Kind != h.kind.gvk().Kind {
		return podController{}
	}
	return podController{p.Namespace, ref.UID}
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
