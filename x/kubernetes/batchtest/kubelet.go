package batchtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// node is the name of the node of every pod. There is no Node object.
const node = "batchtest"

// kubeletWorkers is the number of pods that are handled concurrently.
const kubeletWorkers = 8

// kubelet moves all pods through their lives. It is the scheduler, the kubelet of every node, and
// the garbage collector of pods.
type kubelet struct {
	client kubernetes.Interface
	pods   cache.Indexer
	clock  clock.WithTicker
	queue  workqueue.TypedRateLimitingInterface[types.NamespacedName]
	report func(error) // for behaviours that a pod cannot have

	mu       sync.Mutex
	rules    []rule
	lives    map[types.UID]*entry
	attempts map[string]int // pods seen, by controller and index
	moved    chan struct{}  // closed and replaced when a pod appears, moves or is gone
}

// entry is the life of a pod, and the state of its writes.
type entry struct {
	life
	ruled       bool   // a rule or the test has set the behaviour
	asked, done int    // commands given, and carried out
	written     []byte // the last status
	bound       bool   // by this kubelet: the cache may not show it yet
}

func newKubelet(
	client kubernetes.Interface, informer cache.SharedIndexInformer, c clock.WithTicker, report func(error),
) (*kubelet, error) {
	k := &kubelet{
		client:   client,
		pods:     informer.GetIndexer(),
		clock:    c,
		report:   report,
		lives:    map[types.UID]*entry{},
		attempts: map[string]int{},
		moved:    make(chan struct{}),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](10*time.Millisecond, time.Second),
			workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Clock: c}),
	}

	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { k.appeared(o.(*corev1.Pod)) },
		UpdateFunc: func(_, o any) {
			k.appeared(o.(*corev1.Pod)) // the pod may be another one of the same name
		},
		DeleteFunc: func(o any) {
			if tombstone, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = tombstone.Obj
			}
			if pod, ok := o.(*corev1.Pod); ok {
				k.gone(pod)
			}
		},
	})
	return k, err
}

// Start moves pods until the context ends.
func (k *kubelet) Start(ctx context.Context) error {
	var working sync.WaitGroup
	for range kubeletWorkers {
		working.Add(1)
		go func() {
			defer working.Done()
			for k.work(ctx) {
			}
		}()
	}
	<-ctx.Done()
	k.queue.ShutDown()
	working.Wait()
	return nil
}

// appeared queues a pod, and begins its life if it is new. Notifications come in order, so attempts
// are counted in the order of creation.
func (k *kubelet) appeared(pod *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.queue.Add(keyOf(pod))
	if k.lives[pod.UID] != nil {
		return
	}

	group := pod.Namespace + "/" + string(pod.UID)
	if ref := metav1.GetControllerOf(pod); ref != nil {
		group = string(ref.UID) + "/" + indexOf(pod)
	}

	e := &entry{life: life{Behaviour: Hang(), attempt: k.attempts[group], since: k.clock.Now()}}
	n := len(k.lives) + 1
	e.ip = fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255)
	k.attempts[group]++
	k.lives[pod.UID] = e
	k.choose(pod, e)
	k.broadcast() // a waiter may have looked before the pod appeared
}

// choose gives a pod the behaviour of the last rule that selects it.
func (k *kubelet) choose(pod *corev1.Pod, e *entry) {
	for i := len(k.rules) - 1; i >= 0; i-- {
		if k.rules[i].holds(pod, e.attempt) {
			k.behave(pod, e, k.rules[i].Behaviour)
			return
		}
	}
}

// behave gives a pod a behaviour.
func (k *kubelet) behave(pod *corev1.Pod, e *entry, b Behaviour) {
	e.ruled = true
	if err := b.check(pod); err != nil {
		k.report(err)
		return
	}
	e.Behaviour = b
	e.asked++
	k.queue.Add(keyOf(pod))
}

func (k *kubelet) gone(pod *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.lives, pod.UID)
	k.broadcast()
}

func (k *kubelet) broadcast() {
	close(k.moved)
	k.moved = make(chan struct{})
}

// add adds a rule, and applies it to the existing pods.
func (k *kubelet) add(r rule) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rules = append(k.rules, r)
	for _, o := range k.pods.List() {
		pod := o.(*corev1.Pod)
		if e := k.lives[pod.UID]; e != nil && e.stage != ended && r.holds(pod, e.attempt) {
			k.behave(pod, e, r.Behaviour)
		}
	}
}

func (k *kubelet) work(ctx context.Context) bool {
	key, quit := k.queue.Get()
	if quit {
		return false
	}
	defer k.queue.Done(key)
	next, err := k.sync(ctx, key)
	switch {
	case err != nil && ctx.Err() == nil:
		klog.FromContext(ctx).Error(err, "a pod does not move", "pod", key)
		k.queue.AddRateLimited(key)
		return true
	case !next.IsZero():
		k.queue.AddAfter(key, max(next.Sub(k.clock.Now()), 1))
	}
	k.queue.Forget(key)
	return true
}

// step describes the writes that are due for a pod.
type step struct {
	pod    *corev1.Pod
	entry  *entry
	asked  int
	status []byte // nil means no write
	evict  bool   // the pod is to be deleted
	remove bool   // the pod has ended and need not wait for the grace period
}

// sync moves one pod. It returns when to look again, or the zero time.
func (k *kubelet) sync(ctx context.Context, key types.NamespacedName) (next time.Time, err error) {
	object, found, err := k.pods.GetByKey(key.String())
	if err != nil || !found {
		return next, err
	}

	pod := object.(*corev1.Pod)
	if due, err := k.schedule(ctx, pod); err != nil || !due.IsZero() {
		return due, ignoreGone(err)
	}
	s, next, err := k.plan(pod)
	if err != nil || s == nil {
		return next, err
	}
	return next, ignoreGone(k.do(ctx, s))
}

// ignoreGone ignores the error of a write to an object that is gone or was replaced.
func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// schedule gives a pod its node. If it is too early for that, it returns the time at which the node
// is due.
func (k *kubelet) schedule(ctx context.Context, pod *corev1.Pod) (due time.Time, err error) {
	k.mu.Lock()
	e, now := k.lives[pod.UID], k.clock.Now()
	isDone := pod.DeletionTimestamp != nil || isOver(pod)
	if e == nil || e.stage != unscheduled || isDone {
		k.mu.Unlock()
		return due, nil
	}
	due = e.schedulable(pod)
	bound := pod.Spec.NodeName != ""
	k.mu.Unlock()

	switch {
	case !bound && due.IsZero():
		return now.Add(time.Hour), nil // until something changes
	case !bound && due.After(now):
		return due, nil
	case !bound:
		err = k.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: node},
		}, metav1.CreateOptions{})
		if err != nil {
			return time.Time{}, fmt.Errorf("bind: %w", err)
		}
	}

	k.mu.Lock()
	defer k.mu.Unlock()
	e.bind(k.clock.Now())
	e.bound = true
	return time.Time{}, nil
}

// plan moves the life of a pod, and returns the writes that follow.
func (k *kubelet) plan(pod *corev1.Pod) (s *step, next time.Time, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, now := k.lives[pod.UID], k.clock.Now()
	if e == nil {
		return nil, next, nil
	}

	s = &step{pod: pod, entry: e, asked: e.asked}
	terminating := pod.DeletionTimestamp != nil
	switch {
	case isOver(pod) && e.stage != ended:
		e.end(exit{at: now}) // another client has written that the pod has ended
	case !isOver(pod) && e.stage == unscheduled && terminating:
		e.end(exit{at: now, failed: true}) // as the collector of pods does
		s.status = []byte(`{"phase":"Failed"}`)
	case e.stage != unscheduled:
		if terminating {
			e.deleted(pod, now)
		}
		next = e.advance(pod, now)
		if !isOver(pod) {
			if s.status, err = json.Marshal(e.status(pod, now)); err != nil {
				return nil, next, err // unreachable
			}
		}
	}

	if bytes.Equal(s.status, e.written) {
		s.status = nil
	}
	s.evict = e.leaving() && !terminating

	mayFinish := terminating && e.stage == ended && e.bound
	s.remove = mayFinish && (pod.DeletionGracePeriodSeconds == nil || *pod.DeletionGracePeriodSeconds > 0)
	return s, next, nil
}

// do makes the writes of a step.
func (k *kubelet) do(ctx context.Context, s *step) error {
	pods := k.client.CoreV1().Pods(s.pod.Namespace)
	if s.status != nil {
		patch := fmt.Appendf(nil, `{"metadata":{"uid":%q},"status":%s}`, s.pod.UID, s.status)
		_, err := pods.Patch(ctx, s.pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
		if err != nil {
			return fmt.Errorf("status: %w", err)
		}
	}

	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &s.pod.UID}}
	if s.remove {
		options.GracePeriodSeconds = new(int64)
	}
	if s.evict || s.remove {
		if err := pods.Delete(ctx, s.pod.Name, options); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete: %w", err)
		}
	}

	k.mu.Lock()
	defer k.mu.Unlock()
	if s.status != nil {
		s.entry.written = s.status
	}
	s.entry.done = s.asked
	k.broadcast()
	return nil
}

// look calls a function with the kubelet's view of the pods, and returns a channel that is closed
// when that view changes.
func (k *kubelet) look(f func(lives map[types.UID]*entry)) <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	f(k.lives)
	return k.moved
}

// describe describes what a pod is doing.
func (k *kubelet) describe(pod *corev1.Pod) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e := k.lives[pod.UID]; e != nil {
		if !e.ruled {
			return fmt.Sprintf("%s: attempt %d, which no call of Pods selects", e.doing(), e.attempt)
		}
		return e.doing()
	}
	return "is not known to the kubelet yet"
}

func keyOf(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}
