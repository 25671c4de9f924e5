package reconcilers

import (
	"context"
	"fmt"
	"sync"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	ctrlsource "sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// defaultWorkers is the number of concurrent rounds if the options set none.
const defaultWorkers = 5

// setup describes a controller to add to a manager.
type setup[K comparable] struct {
	name      string
	workers   int
	limiter   workqueue.TypedRateLimiter[K]
	reconcile func(context.Context, K) (next time.Time, err error)
}

// on adds the controller to a manager.
func (s setup[K]) on(mgr ctrl.Manager, sources ...ctrlsource.TypedSource[K]) error {
	if s.workers == 0 {
		s.workers = defaultWorkers
	}
	b := builder.TypedControllerManagedBy[K](mgr).Named(s.name).
		WithOptions(ctrlcontroller.TypedOptions[K]{MaxConcurrentReconciles: s.workers, RateLimiter: s.limiter})
	for _, source := range sources {
		b = b.WatchesRawSource(source)
	}
	return b.Complete(reconcile.TypedFunc[K](s.round))
}

// waitDelay is the delay of the next round after an expected error.
const waitDelay = time.Second

// round runs one round. An expected error is not returned; it only delays the next round.
func (s setup[K]) round(ctx context.Context, key K) (reconcile.Result, error) {
	next, err := s.reconcile(ctx, key)
	switch {
	case err != nil && controller.IsExpected(err):
		return reconcile.Result{RequeueAfter: waitDelay}, nil
	case err != nil:
		return reconcile.Result{}, err
	case next.IsZero():
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: max(time.Until(next), 1)}, nil
}

// fill sets an informer, unless it is set already, to the manager's informer for the object's kind.
func fill(mgr ctrl.Manager, informer *toolscache.SharedIndexInformer, of client.Object) error {
	if *informer != nil {
		return nil
	}
	i, err := mgr.GetCache().GetInformer(context.Background(), of, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("informer of %T: %w", of, err)
	}
	shared, ok := i.(toolscache.SharedIndexInformer)
	if !ok {
		return fmt.Errorf("informer of %T: the manager's cache is restricted to several namespaces: "+
			"leave cache.Options.DefaultNamespaces empty, and restrict the controller with Common.Namespace", of)
	}
	*informer = shared
	return nil
}

// eventSource is a source of a controller: its handler fills the queue.
type eventSource[K comparable] struct {
	informer toolscache.SharedIndexInformer
	handler  func(controller.Queue[K]) toolscache.ResourceEventHandler

	mu     sync.Mutex
	synced toolscache.InformerSynced
}

func source[K comparable](
	i toolscache.SharedIndexInformer, h func(controller.Queue[K]) toolscache.ResourceEventHandler,
) *eventSource[K] {
	return &eventSource[K]{informer: i, handler: h}
}

// Start implements [ctrlsource.TypedSource].
func (s *eventSource[K]) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[K]) error {
	registration, err := s.informer.AddEventHandler(s.handler(queue))
	if err != nil {
		return err
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.synced = registration.HasSynced
	return nil
}

// WaitForSync implements [ctrlsource.TypedSyncingSource]: rounds begin when the handler has
// seen all objects of the cache.
func (s *eventSource[K]) WaitForSync(ctx context.Context) error {
	s.mu.Lock()
	synced := s.synced
	s.mu.Unlock()
	if !toolscache.WaitForCacheSync(ctx.Done(), synced) {
		return context.Cause(ctx)
	}
	return nil
}
