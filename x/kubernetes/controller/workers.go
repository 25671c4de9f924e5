package controller

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/batchplan/batchplan/cronjob/cronjobapply"
)

// Queue takes the keys of objects that may need a round. A work queue of client-go is one.
type Queue[K comparable] interface {
	Add(key K)
	AddAfter(key K, d time.Duration)
}

// Controller runs the rounds of one reconciler: handlers fill its queue, workers empty it.
// A failed round is repeated after a growing delay.
type Controller[K comparable] struct {
	name      string
	queue     workqueue.TypedRateLimitingInterface[K]
	clock     clock.WithTicker
	workers   int
	fragile   bool // a panic of a round ends the process
	synced    []cache.InformerSynced
	reconcile func(context.Context, K) (next time.Time, err error)
	each      func(namespace func(string) bool, add func(K))
}

func newController[K comparable](name string, o *Common, limiter workqueue.TypedRateLimiter[K]) *Controller[K] {
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[K]{
		Name: name, MetricsProvider: o.QueueMetrics, Clock: o.clock(),
	})
	return &Controller[K]{
		name:    name,
		queue:   queue,
		clock:   o.clock(),
		workers: max(o.Workers, 1),
		fragile: o.CrashOnPanic,
	}
}

// watch adds a handler, which fills the queue, to an informer.
func (c *Controller[K]) watch(informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) error {
	registration, err := informer.AddEventHandler(handler)
	if err != nil {
		return fmt.Errorf("%s controller: %w", c.name, err)
	}
	c.synced = append(c.synced, registration.HasSynced)
	return nil
}

// Start waits for the caches and runs rounds until the context ends. It returns when all rounds
// have ended: a round in progress makes no further write, and the next controller continues it.
// Start must be called only once.
func (c *Controller[K]) Start(ctx context.Context) error {
	defer c.ShutDown()
	if !cache.WaitForCacheSync(ctx.Done(), c.synced...) {
		return fmt.Errorf("%s controller: caches: %w", c.name, context.Cause(ctx))
	}

	var running sync.WaitGroup
	defer running.Wait()
	for range c.workers {
		running.Add(1)
		go func() {
			defer running.Done()
			c.Work(ctx)
		}()
	}

	<-ctx.Done()
	c.ShutDown()
	return nil
}

// NeedLeaderElection tells a manager of controller-runtime that only one replica runs rounds.
func (c *Controller[K]) NeedLeaderElection() bool { return true }

// Enqueue requests a round of every object in the namespaces that the function selects, for example
// after a change of [Common.Namespace].
func (c *Controller[K]) Enqueue(namespace func(string) bool) { c.each(namespace, c.queue.Add) }

// Work runs rounds, one at a time, until ShutDown. Start calls it for each worker.
func (c *Controller[K]) Work(ctx context.Context) {
	for c.workOnce(ctx) {
	}
}

// ShutDown ends Work once the rounds in progress have ended.
func (c *Controller[K]) ShutDown() { c.queue.ShutDown() }

func (c *Controller[K]) workOnce(ctx context.Context) bool {
	key, quit := c.queue.Get()
	if quit {
		return false
	}
	defer c.queue.Done(key)

	next, err := c.round(ctx, key)
	if !next.IsZero() {
		c.queue.AddAfter(key, next.Sub(c.clock.Now()))
	}
	if err == nil {
		c.queue.Forget(key)
		return true
	}

	c.logFailure(ctx, key, err)
	c.queue.AddRateLimited(key)
	return true
}

// IsExpected reports whether an error of a round is nothing to worry about: the caches do not show
// the controller's own writes yet, or another client has written the object. An error of [Memories]
// or [Requests] is never expected, even if it is joined with a conflict.
func IsExpected(err error) bool {
	var ofStore storeError
	if errors.As(err, &ofStore) {
		return false
	}
	var stale *staleError
	return errors.As(err, &stale) || errors.Is(err, cronjobapply.ErrAgain) || apierrors.IsConflict(err)
}

// logFailure logs why a round is repeated.
func (c *Controller[K]) logFailure(ctx context.Context, key K, err error) {
	log := klog.FromContext(ctx)
	if IsExpected(err) {
		log.V(2).Info("round is repeated", "controller", c.name, "key", key, "cause", err.Error())
		return
	}
	log.Error(err, "round failed and is repeated", "controller", c.name, "key", key,
		"failures", c.queue.NumRequeues(key)+1)
}

// round runs one round. A panic becomes an error, so that the other objects are still served.
func (c *Controller[K]) round(ctx context.Context, key K) (next time.Time, err error) {
	if c.fragile {
		return c.reconcile(ctx, key)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			klog.FromContext(ctx).Error(err, "round panicked", "controller", c.name, "key", key,
				"stack", string(debug.Stack()))
		}
	}()
	return c.reconcile(ctx, key)
}

// Run runs controllers until the context ends or one of them fails, and returns when all have
// ended. It returns the first error.
func Run(ctx context.Context, controllers ...interface{ Start(context.Context) error }) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	errs := make(chan error, len(controllers))
	for _, c := range controllers {
		go func() { errs <- c.Start(ctx) }()
	}

	var first error
	for range controllers {
		if err := <-errs; err != nil && first == nil {
			first = err
			cancel(err)
		}
	}
	return first
}
