package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// OrphanOptions are the options of an orphan controller. They decide which pods lose the finalizer.
type OrphanOptions struct {
	Common
	// ManagedBy is the spec.managedBy of this controller's jobs, as in JobOptions: pods of
	// a job that another controller manages are left alone as long as the job exists.
	ManagedBy string
	// Planner are the options of the planner, as in JobOptions: without the gate JobManagedBy, no
	// other controller manages a job.
	Planner job.Options
	Hooks   OrphanHooks
}

// OrphanHooks are callbacks for what the controller has decided. Each may be nil.
type OrphanHooks struct {
	// Released is called with each pod that is about to lose the finalizer.
	Released func(*corev1.Pod)
}

// Orphan is a key of one pod, or of all pods of a job. The pods may have the finalizer although no
// job would remove it. Orphans can be compared with ==.
type Orphan struct {
	types.NamespacedName
	// Owner, if set, is the UID of a job that has ended or is gone, and Selector is its selector.
	// The key then has the name of the job and the namespace of its pods. Pods that no longer match
	// the selector are found when they are deleted.
	Owner    types.UID
	Selector string
}

// Orphans removes the finalizer of pods that no job will count (J36). The finalizer would keep them
// forever.
type Orphans struct {
	ownedPods
	client  kubernetes.Interface
	options OrphanOptions
}

// NewOrphans returns a controller of the pods of a kind, as [NewJobs] does.
func NewOrphans[T Object](kind Kind[T], o OrphanOptions) (*Controller[Orphan], error) {
	r, err := NewOrphanReconciler(kind, o)
	if err != nil {
		return nil, err
	}
	c := newController(kind.controller("orphan"), &o.Common, JobRateLimiter[Orphan]())
	c.reconcile, c.each = r.Reconcile, r.each
	return c, errors.Join(
		c.watch(kind.ObjectInformer, r.OwnerEvents(c.queue)),
		c.watch(kind.PodInformer, r.PodEvents(c.queue)),
	)
}

// NewOrphanReconciler returns the reconciler alone, as [NewJobReconciler] does.
func NewOrphanReconciler[T Object](kind Kind[T], o OrphanOptions) (*Orphans, error) {
	by, err := kind.managedBy(o.ManagedBy, &o.Planner)
	if err := errors.Join(kind.complete(true), err); err != nil {
		return nil, fmt.Errorf("%s controller: %w", kind.controller("orphan"), err)
	}
	if err := addIndex(kind.PodInformer, byController, controllerOf); err != nil {
		return nil, fmt.Errorf("%s controller: %w", kind.controller("orphan"), err)
	}
	o.Planner.ControllerName = by
	owned := ownedPods{&kind, kind.ObjectInformer.GetIndexer(), kind.PodInformer.GetIndexer()}
	return &Orphans{owned, kind.PodClient, o}, nil
}

// OwnerEvents returns the handler of the jobs' informer.
func (c *Orphans) OwnerEvents(queue Queue[Orphan]) cache.ResourceEventHandler {
	look := func(o Object, gone bool) {
		if value := c.kind.value(o); gone || value.Status.Finished() != "" {
			name := types.NamespacedName{Namespace: value.Namespace, Name: value.Name}
			queue.Add(Orphan{name, o.GetUID(), selectorOf(&value)})
		}
	}
	return cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, o any) { look(o.(Object), false) },
		DeleteFunc: func(o any) {
			if object, ok := last[Object](o); ok {
				look(object, true)
			}
		},
	}
}

// selectorOf returns the selector of an owner as text. A selector that the server would not
// accept selects everything.
func selectorOf(j *job.Job) string {
	s := j.Spec.Selector
	if s == nil {
		return ""
	}
	selector := metav1.LabelSelector{MatchLabels: s.MatchLabels}
	for _, r := range s.MatchExpressions {
		selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: r.Key, Operator: metav1.LabelSelectorOperator(r.Operator), Values: r.Values,
		})
	}
	out, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil {
		return ""
	}
	return out.String()
}

// PodEvents returns the handler of the pods' informer.
func (c *Orphans) PodEvents(queue Queue[Orphan]) cache.ResourceEventHandler {
	look := func(p *corev1.Pod) {
		if convert.IsTracked(p) && c.isLeft(p) {
			queue.Add(Orphan{NamespacedName: keyOf(p)})
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { look(o.(*corev1.Pod)) },
		UpdateFunc: func(_, o any) { look(o.(*corev1.Pod)) },
		DeleteFunc: func(o any) {
			if p, ok := last[*corev1.Pod](o); ok {
				look(p)
			}
		},
	}
}

// isLeft reports whether the pod itself must be queued. There may be no event of a job for a pod
// that nobody controls, or that is being deleted after its job has ended or is gone.
func (c *Orphans) isLeft(p *corev1.Pod) bool {
	if p.DeletionTimestamp == nil {
		return metav1.GetControllerOfNoCopy(p) == nil
	}
	owner := c.ownerOf(p)
	if owner == nil {
		return true
	}
	value := c.kind.value(owner)
	return value.Status.Finished() != ""
}

// each calls add for every pod that has the finalizer, in the namespaces that function namespace
// selects.
func (c *Orphans) each(namespace func(string) bool, add func(Orphan)) {
	for _, o := range c.pods.List() {
		if p := o.(*corev1.Pod); namespace(p.Namespace) && convert.IsTracked(p) {
			add(Orphan{NamespacedName: keyOf(p)})
		}
	}
}

// Reconcile removes the finalizer of the pods of a key unless a job needs it. next is always zero.
func (c *Orphans) Reconcile(ctx context.Context, key Orphan) (next time.Time, err error) {
	if !c.options.serves(key.Namespace) {
		return next, nil
	}
	if key.Owner == "" {
		if pod := c.podAt(key.NamespacedName); pod != nil {
			err = c.release(ctx, pod)
		}
		return next, err
	}

	selector, err := labels.Parse(key.Selector)
	if err != nil {
		return next, err // unreachable: selectorOf has made it
	}
	for _, pod := range c.appendUnder(nil, ofController(key.Namespace, key.Owner)) {
		if selector.Matches(labels.Set(pod.Labels)) {
			err = errors.Join(err, c.release(ctx, pod))
		}
	}
	return next, err
}

// release removes the finalizer unless a job needs it.
func (c *Orphans) release(ctx context.Context, pod *corev1.Pod) error {
	if !convert.IsTracked(pod) || !c.isFree(pod) {
		return nil
	}
	if c.options.Hooks.Released != nil {
		c.options.Hooks.Released(pod)
	}

	klog.FromContext(ctx).V(2).Info("finalizer of an orphan is removed", "pod", klog.KObj(pod))
	pods := backend.Pods{Client: c.client.CoreV1().Pods(pod.Namespace)}
	err := pods.Untrack(ctx, job.Untracking{PodRef: job.PodRef{Name: pod.Name, UID: job.UID(pod.UID)}})
	if errors.Is(err, jobapply.ErrGone) {
		return nil
	}
	return err
}

// isFree reports whether no job still has to count the pod.
func (c *Orphans) isFree(pod *corev1.Pod) bool {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return true
	}
	if gvk := c.kind.gvk(); ref.Kind != gvk.Kind || ref.APIVersion != gvk.GroupVersion().String() {
		return false
	}

	owner := c.ownerOf(pod)
	if owner == nil {
		return job.MayUntrack(nil, &job.Pod{}, c.options.Planner)
	}
	value := c.kind.value(owner)
	p := convert.Pod(&value, pod)
	return job.MayUntrack(&value, &p, c.options.Planner)
}
