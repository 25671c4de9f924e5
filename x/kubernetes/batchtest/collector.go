package batchtest

import (
	"context"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// byOwner is the index of objects by the UIDs of their owners.
const byOwner = "batchtest/owner"

// collectorWorkers is the number of objects that are handled concurrently.
const collectorWorkers = 4

// collector is the garbage collector. It watches some kinds from the start, and any other kind as
// soon as it sees an owner of that kind.
type collector struct {
	metadata  metadata.Interface
	mapper    meta.ResettableRESTMapper
	namespace string
	queue     workqueue.TypedRateLimitingInterface[item]
	ended     chan struct{}
	running   sync.WaitGroup // informers of metadata

	mu       sync.Mutex
	watched  map[schema.GroupVersionResource]cache.SharedIndexInformer
	resource map[schema.GroupKind]kindOf
	stopped  bool
}

// item is an object in the queue.
type item struct {
	resource schema.GroupVersionResource
	types.NamespacedName
}

// kindOf is the resource of a kind.
type kindOf struct {
	schema.GroupVersionResource
	namespaced bool
}

var (
	podsResource     = corev1.SchemeGroupVersion.WithResource("pods")
	jobsResource     = batchv1.SchemeGroupVersion.WithResource("jobs")
	cronJobsResource = batchv1.SchemeGroupVersion.WithResource("cronjobs")
)

func newCollector(
	conn *connection, namespace string, more []schema.GroupVersionResource,
	have map[string]cache.SharedIndexInformer,
) (*collector, error) {
	g := &collector{
		metadata:  conn.metadata,
		mapper:    restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(conn.client.Discovery())),
		namespace: namespace, ended: make(chan struct{}),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[item](10*time.Millisecond, time.Second)),
		watched: map[schema.GroupVersionResource]cache.SharedIndexInformer{},
		resource: map[schema.GroupKind]kindOf{
			{Kind: "Pod"}:                     {podsResource, true},
			{Group: "batch", Kind: "Job"}:     {jobsResource, true},
			{Group: "batch", Kind: "CronJob"}: {cronJobsResource, true},
		},
	}

	for _, r := range []schema.GroupVersionResource{podsResource, jobsResource, cronJobsResource} {
		if err := g.handle(r, have[r.Resource]); err != nil {
			return nil, err
		}
	}
	for _, r := range more {
		if err := g.watch(kindOf{r, true}); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// hasSynced reports whether all informers have been filled.
func (g *collector) hasSynced() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, informer := range g.watched {
		if !informer.HasSynced() {
			return false
		}
	}
	return true
}

// Start collects until the context ends.
func (g *collector) Start(ctx context.Context) error {
	var working sync.WaitGroup
	for range collectorWorkers {
		working.Add(1)
		go func() {
			defer working.Done()
			for g.work(ctx) {
			}
		}()
	}
	<-ctx.Done()
	g.queue.ShutDown()
	working.Wait()
	return nil
}

// shutdown stops the informers and returns when they have ended.
func (g *collector) shutdown() {
	g.mu.Lock()
	if !g.stopped {
		g.stopped = true
		close(g.ended)
	}
	g.mu.Unlock()
	g.queue.ShutDown()
	g.running.Wait()
}

// watch watches a resource, unless it is watched already.
func (g *collector) watch(k kindOf) error {
	g.mu.Lock()
	_, known := g.watched[k.GroupVersionResource]
	stopped := g.stopped
	g.mu.Unlock()
	if known || stopped {
		return nil
	}

	namespace := g.namespace
	if !k.namespaced {
		namespace = ""
	}
	informer := metadatainformer.NewFilteredMetadataInformer(
		g.metadata, k.GroupVersionResource, namespace, 0, cache.Indexers{}, nil).Informer()

	if err := g.handle(k.GroupVersionResource, informer); err != nil {
		return err
	}

	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return nil
	}
	g.running.Add(1)
	go func() {
		defer g.running.Done()
		informer.Run(g.ended)
	}()
	return nil
}

// handle watches a resource with an informer, unless it is watched already.
func (g *collector) handle(r schema.GroupVersionResource, informer cache.SharedIndexInformer) error {
	g.mu.Lock()
	_, known := g.watched[r]
	if !known {
		g.watched[r] = informer
	}
	g.mu.Unlock()
	if known {
		return nil
	}

	err := informer.AddIndexers(cache.Indexers{byOwner: func(o any) (owners []string, err error) {
		for _, ref := range o.(metav1.Object).GetOwnerReferences() {
			owners = append(owners, string(ref.UID))
		}
		return owners, nil
	}})
	if err != nil {
		return fmt.Errorf("garbage collector: %w", err)
	}

	add := func(o any) { g.queue.Add(item{r, keyOf(o.(metav1.Object))}) }
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(_, o any) { add(o) },
		DeleteFunc: func(o any) {
			if tombstone, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = tombstone.Obj
			}
			if object, ok := o.(metav1.Object); ok {
				g.gone(object)
			}
		},
	})
	return err
}

// gone queues the dependents of a deleted object, and its owners, which may wait for its end.
func (g *collector) gone(object metav1.Object) {
	for _, d := range g.dependents(object.GetUID()) {
		g.queue.Add(item{d.resource, keyOf(d)})
	}
	for _, ref := range object.GetOwnerReferences() {
		g.mu.Lock()
		kind, found := g.resource[schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()]
		g.mu.Unlock()
		if found {
			g.queue.Add(item{kind.GroupVersionResource, kind.key(object.GetNamespace(), ref.Name)})
		}
	}
}

func (k kindOf) key(namespace, name string) types.NamespacedName {
	if !k.namespaced {
		namespace = ""
	}
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// dependents returns the objects that an object owns, from the watched kinds.
func (g *collector) dependents(owner types.UID) (found []dependent) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for r, informer := range g.watched {
		objects, err := informer.GetIndexer().ByIndex(byOwner, string(owner))
		if err != nil {
			continue // unreachable: the index was added
		}
		for _, o := range objects {
			found = append(found, dependent{o.(metav1.Object), r})
		}
	}
	return found
}

func (g *collector) work(ctx context.Context) bool {
	next, quit := g.queue.Get()
	if quit {
		return false
	}
	defer g.queue.Done(next)
	if err := g.look(ctx, next); err != nil && ctx.Err() == nil {
		if !apierrors.IsConflict(err) {
			klog.FromContext(ctx).Error(err, "an object cannot be collected",
				"resource", next.resource.Resource, "object", next.NamespacedName)
		}
		g.queue.AddRateLimited(next)
		return true
	}
	g.queue.Forget(next)
	return true
}

const (
	alive ownerState = iota
	waiting
	absent
)
