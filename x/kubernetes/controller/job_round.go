package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/x/kubernetes/backend"
)

// Reconcile runs one round of one job. It returns the time when the next round is due even if
// nothing changes, or the zero time. An error requests another round soon.
func (c *Jobs) Reconcile(ctx context.Context, key types.NamespacedName) (next time.Time, err error) {
	if err := c.written.check(key); err != nil && !c.options.Stale {
		if c.options.Metrics.Stale != nil {
			c.options.Metrics.Stale(c.resource(err.cache))
		}
		return next, err
	}
	c.ends.begun(key)

	object := c.ownerAt(key)
	if object == nil || !c.options.serves(c.kind.namespace(object)) {
		return next, c.forget(ctx, key, object == nil)
	}

	value := c.kind.value(object)
	ours := c.takes(&value)
	if value.Status.Finished() != "" {
		c.forgetPods(key)
		c.written.forget(key, object.GetUID())
		if !ours {
			return next, nil
		}
		c.kept.add(key)
		return next, c.of(key, forget(ctx, &c.kept, c.options.Memories, key, true))
	}

	memory, err := c.remember(ctx, key, object, ours)
	if err != nil && !isReported(ctx, err) {
		return next, c.of(key, err)
	}
	if err != nil {
		b := c.newBackend(key, object, &value)
		b.report.Err = err
		return next, told(c.of(key, err), b.tell(ctx))
	}

	d := c.desks.Get().(*desk)
	snapshot := job.Snapshot{
		Job:     value,
		Now:     c.options.clock().Now(),
		Memory:  memory,
		Options: c.options.Planner,
	}
	snapshot.Memory.Expectations, snapshot.Memory.Untracking = c.tracker.Snapshot(key)
	if ours {
		if value.Namespace != key.Namespace {
			c.places.Store(key, value.Namespace)
		}
		d.objects = c.appendPods(d.objects[:0], object)
		d.pods = c.known.Append(d.pods[:0], &value, d.objects)
		snapshot.Pods = d.pods
		clear(d.objects) // keep no pods in memory that are gone
		if c.options.Planner.Gangs {
			snapshot.Groups = c.options.Groups.of(object, c.kind.gvk(), value.Namespace, c.kind.template(object))
		}
	}

	next, err = c.plan(ctx, d, key, object, &snapshot)
	c.desks.Put(d) // not after a panic
	return next, err
}

// resource returns the resource of a cache.
func (c *Jobs) resource(r resource) schema.GroupResource {
	if r == ofPods {
		return corev1.Resource("pods")
	}
	plural, _ := meta.UnsafeGuessKindToResource(c.kind.gvk())
	return plural.GroupResource()
}

// forget drops what is known about a job that is gone, or that belongs to another replica.
func (c *Jobs) forget(ctx context.Context, key types.NamespacedName, isGone bool) error {
	c.forgetPods(key)
	c.tracker.Forget(key)
	c.written.forget(key, "")
	return c.of(key, forget(ctx, &c.kept, c.options.Memories, key, isGone))
}

// of adds the name of the job to an error.
func (c *Jobs) of(key types.NamespacedName, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", c.kind.controller("job"), named(key), err)
}

// forgetPods drops what is known about the pods of a job.
func (c *Jobs) forgetPods(key types.NamespacedName) {
	c.created.forget(key)
	if place, is := c.places.LoadAndDelete(key); is {
		key.Namespace = place.(string)
	}
	c.known.Forget(key)
}

// plan makes the plan of a round and carries it out.
func (c *Jobs) plan(
	ctx context.Context, d *desk, key types.NamespacedName, object Object, snapshot *job.Snapshot,
) (next time.Time, err error) {
	plan, err := d.planner.Reconcile(snapshot)
	if c.options.Hooks.Planned != nil {
		c.options.Hooks.Planned(c.options.clock().Since(snapshot.Now))
	}
	b := c.newBackend(key, object, &snapshot.Job)
	if err == nil && b.ours {
		err = c.kind.check(object, &snapshot.Job)
	}
	if err != nil {
		b.report.Err = err
		c.options.report(ctx, object, true, job.Event{
			Type:    job.EventWarning,
			Reason:  "Invalid" + c.kind.gvk().Kind,
			Message: err.Error(),
		})
		return next, told(c.of(key, err), b.tell(ctx))
	}

	c.log(ctx, key, plan)
	if err := c.checkCreations(key, snapshot, plan); err != nil {
		c.options.report(ctx, object, true, job.Event{
			Type:    job.EventWarning,
			Reason:  "PodsNotSeen",
			Message: err.Error(),
		})
		b.report.Err = err
		return next, told(c.of(key, err), b.tell(ctx))
	}

	b.report.Plan = plan
	end, err := jobapply.Executor{Parallel: c.options.Parallel}.Apply(ctx, b, plan)
	if b.foundOnlyGone(plan) {
		// The round has changed nothing, and the cache will soon show that these pods are gone:
		// plan again without them instead of waiting for the cache (J6).
		snapshot.Pods = slices.DeleteFunc(snapshot.Pods, func(p job.Pod) bool { return b.gone[p.UID] })
		return c.plan(ctx, d, key, object, snapshot)
	}

	round := JobRound{snapshot, plan, end.Outcome, &end.Metrics, c.options.clock().Since(snapshot.Now)}
	if c.options.Hooks.Round != nil {
		c.options.Hooks.Round(round)
	}
	if c.options.Metrics.Round != nil {
		c.options.Metrics.Round(round)
	}

	if b.ours {
		forgotten := c.of(key, ofMemory(c.options.Memories.Set(ctx, key, end.Memory)))
		err = errors.Join(err, forgotten)
	}
	events := end.Events
	if c.options.MergeEvents {
		events = mergeEvents(events)
	}
	c.options.report(ctx, object, end.Retry, c.said(events)...)
	isRefused := func(e job.Effect) bool { return e.Result == jobreason.ResultRefused }
	if slices.ContainsFunc(end.Outcome.Created, isRefused) {
		asKubernetes := c.options.Planner.Quirks.Has(jobquirk.RefusedAreActive)
		c.options.report(ctx, object, false, closing(ctx, object, "Pod", b.Pods.Namespace, asKubernetes)...)
	}

	if isReported(ctx, err) {
		b.report.Err = err
		err = told(err, b.tell(ctx))
	}
	if ended := end.Status.Finished(); ended == "" {
		err = errors.Join(err, b.annotate(ctx, end.Memory))
	} else if b.object != object {
		klog.FromContext(ctx).V(2).Info(c.kind.says("Job has ended"), c.kind.controller("job"), key,
			"condition", ended, "reason", end.Status.Condition(ended).Reason,
			"succeeded", end.Status.Succeeded, "failed", end.Status.Failed)
	}

	if end.Outcome.Claimed.Result == jobreason.ResultUnsuccessful {
		return next, err // nothing can be done before the next try
	}
	return end.Requeue.At, err
}

// log logs each decision with its reason.
func (c *Jobs) log(ctx context.Context, key types.NamespacedName, plan *job.Plan) {
	log := klog.FromContext(ctx).V(4)
	if !log.Enabled() {
		return
	}
	for line := range strings.Lines(plan.String()) {
		log.Info("decision", c.kind.controller("job"), key, "decision", c.kind.decides(strings.TrimSpace(line)))
	}
}

// said returns the events with the kind's name in their messages.
func (c *Jobs) said(events []job.Event) []job.Event {
	for i := range events { // the events belong to this round
		events[i].Message = c.kind.says(events[i].Message)
	}
	return events
}

// roundBackend makes the writes of one round, and records their versions.
type roundBackend struct {
	*backend.Pods
	*backend.Groups
	jobs   *Jobs
	key    types.NamespacedName
	owner  types.UID
	object Object // as planned, or as returned by the last write
	report JobReport
	ours   bool // if false, another controller writes the status

	mu   sync.Mutex
	gone map[job.UID]bool // orphans that are gone and could not be adopted
}

// Adopt implements [jobapply.Adopter].
func (b *roundBackend) Adopt(ctx context.Context, pod job.Claim) error {
	err := b.Pods.Adopt(ctx, pod)
	if errors.Is(err, jobapply.ErrGone) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.gone == nil {
			b.gone = map[job.UID]bool{}
		}
		b.gone[pod.UID] = true
	}
	return err
}

// Create implements [jobapply.Backend].
func (b *roundBackend) Create(ctx context.Context, c job.Creation) (job.PodRef, error) {
	ref, err := b.Pods.Create(ctx, c)
	if err == nil {
		b.jobs.created.add(b.key, b.owner, ref, b.jobs.options.clock().Now())
	}
	return ref, err
}

// foundOnlyGone reports whether all pods that the plan adopts are gone, and the plan releases none.
func (b *roundBackend) foundOnlyGone(p *job.Plan) bool {
	return len(b.gone) > 0 && len(b.gone) == len(p.Adopt) && len(p.Release) == 0
}

func (c *Jobs) newBackend(key types.NamespacedName, object Object, value *job.Job) *roundBackend {
	namespace, template := c.kind.namespace(object), c.kind.template(object)
	owner := *metav1.NewControllerRef(object, c.kind.gvk())
	return &roundBackend{
		jobs: c, key: key, owner: object.GetUID(), object: object, ours: c.takes(value),
		Groups: c.options.Groups.backend(namespace, owner, value, template),
		Pods: &backend.Pods{
			Client:    c.client.CoreV1().Pods(namespace),
			Namespace: namespace,
			Owner:     owner,
			Template:  template,
			Fresh: func(ctx context.Context) (metav1.Object, error) {
				return c.kind.get(ctx, key)
			},
			Wrote: func(pod *corev1.Pod) {
				if ref := metav1.GetControllerOf(pod); ref != nil {
					c.written.wrote(key, ref.UID, ofPods, pod.ResourceVersion)
				}
			},
		},
	}
}

// WriteStatus implements [jobapply.Backend].
func (b *roundBackend) WriteStatus(ctx context.Context, s job.Status) error {
	object, err := b.jobs.kind.writeStatus(ctx, b.object, s, &b.report)
	if err == nil {
		b.wrote(object)
	}
	return err
}

// wrote records the object that a write of the status has returned.
func (b *roundBackend) wrote(object Object) {
	b.object = object
	b.jobs.written.wrote(b.key, object.GetUID(), ofOwners, object.GetResourceVersion())
}

// Executed implements [jobapply.Observer].
func (b *roundBackend) Executed(writes job.Writes) { b.report.Writes = writes }

// Expectations implements [jobapply.Expecter].
func (b *roundBackend) Expectations() jobapply.Expectations {
	return b.jobs.tracker.Of(b.key, b.jobs.options.clock().Now())
}

// tell writes the report, if it changes the status of the object.
func (b *roundBackend) tell(ctx context.Context) error {
	if !b.ours {
		return nil
	}

	object, err := b.jobs.kind.tell(ctx, b.object, &b.report)
	if err == nil && object != nil {
		b.wrote(object)
	}
	return err
}
