package batchtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
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

// collectorWorkers is how many objects are looked at concurrently.
const collectorWorkers = 4

// collector is the garbage collector. It watches some kinds from the start, and each kind that owns
// something as soon as that is seen.
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

// item is an object to look at.
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

func newCollector(conn *connection, namespace string, more []schema.GroupVersionResource, have map[string]cache.SharedIndexInformer) (*collector, error) {
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
	informer := metadatainformer.NewFilteredMetadataInformer(g.metadata, k.GroupVersionResource, namespace, 0, cache.Indexers{}, nil).Informer()
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

// handle lets an informer fill the queue.
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

// gone asks for a look at what an object has owned, and at what may have waited for its end.
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

// dependent is an object that another one owns.
type dependent struct {
	metav1.Object
	resource schema.GroupVersionResource
}

// dependents returns what an object owns, as far as it is watched.
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
			klog.FromContext(ctx).Error(err, "an object cannot be collected", "resource", next.resource.Resource, "object", next.NamespacedName)
		}
		g.queue.AddRateLimited(next)
		return true
	}
	g.queue.Forget(next)
	return true
}

// look looks at one object.
func (g *collector) look(ctx context.Context, i item) error {
	g.mu.Lock()
	informer := g.watched[i.resource]
	g.mu.Unlock()
	if informer == nil {
		return nil
	}
	key := i.Name
	if i.Namespace != "" {
		key = i.Namespace + "/" + i.Name
	}
	o, found, err := informer.GetIndexer().GetByKey(key)
	if err != nil || !found {
		return err
	}
	object := dependent{o.(metav1.Object), i.resource}
	switch {
	case object.GetDeletionTimestamp() == nil:
		return g.judge(ctx, object)
	case slices.Contains(object.GetFinalizers(), metav1.FinalizerDeleteDependents):
		return g.foreground(ctx, object)
	case slices.Contains(object.GetFinalizers(), metav1.FinalizerOrphanDependents):
		return g.orphan(ctx, object)
	}
	return nil
}

// judge deletes an object whose owners are all gone or wait for it to go. If it has others, it only
// loses the references to those that are gone.
func (g *collector) judge(ctx context.Context, o dependent) error {
	var kept, left []metav1.OwnerReference
	awaited := false
	for _, ref := range o.GetOwnerReferences() {
		is, err := g.ownerIs(ctx, o, ref)
		if err != nil {
			return err
		}
		switch is {
		case alive:
			kept = append(kept, ref)
		case absent, waiting:
			left = append(left, ref)
			awaited = awaited || is == waiting
		}
	}
	switch {
	case len(left) == 0:
		return nil
	case len(kept) > 0:
		return g.patch(ctx, o, map[string]any{"ownerReferences": kept})
	}
	return g.delete(ctx, o, awaited)
}

// delete deletes an object that nobody owns any more. What it owns itself goes before it if an owner
// waits for it, and otherwise after it.
func (g *collector) delete(ctx context.Context, o dependent, awaited bool) error {
	policy := metav1.DeletePropagationBackground
	if awaited && len(g.dependents(o.GetUID())) > 0 {
		policy = metav1.DeletePropagationForeground
	}
	if slices.Contains(o.GetFinalizers(), metav1.FinalizerOrphanDependents) {
		policy = metav1.DeletePropagationOrphan
	}
	uid := o.GetUID()
	err := g.metadata.Resource(o.resource).Namespace(o.GetNamespace()).Delete(ctx, o.GetName(), metav1.DeleteOptions{
		PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &uid},
	})
	return ignoreGone(err)
}

// foreground deletes what an object owns, and lets it go when nothing is left that blocks it.
func (g *collector) foreground(ctx context.Context, o dependent) error {
	blocked := false
	for _, d := range g.dependents(o.GetUID()) {
		for _, ref := range d.GetOwnerReferences() {
			if ref.UID == o.GetUID() && ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion {
				blocked = true
			}
		}
		if d.GetDeletionTimestamp() == nil {
			if err := g.judge(ctx, d); err != nil {
				return err
			}
		}
	}
	if blocked {
		return nil // its end wakes the owner
	}
	return g.release(ctx, o, metav1.FinalizerDeleteDependents)
}

// orphan takes the references to an object off what it owns, and lets it go.
func (g *collector) orphan(ctx context.Context, o dependent) error {
	for _, d := range g.dependents(o.GetUID()) {
		refs := slices.DeleteFunc(slices.Clone(d.GetOwnerReferences()), func(ref metav1.OwnerReference) bool { return ref.UID == o.GetUID() })
		if err := g.patch(ctx, d, map[string]any{"ownerReferences": refs}); err != nil {
			return err
		}
	}
	return g.release(ctx, o, metav1.FinalizerOrphanDependents)
}

// release removes a finalizer.
func (g *collector) release(ctx context.Context, o dependent, finalizer string) error {
	left := slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool { return f == finalizer })
	return g.patch(ctx, o, map[string]any{"finalizers": left})
}

// patch replaces fields of the metadata, on condition of the version: nobody else may have written
// them.
func (g *collector) patch(ctx context.Context, o dependent, fields map[string]any) error {
	fields["uid"], fields["resourceVersion"] = o.GetUID(), o.GetResourceVersion()
	patch, err := json.Marshal(map[string]any{"metadata": fields})
	if err != nil {
		return err // unreachable
	}
	_, err = g.metadata.Resource(o.resource).Namespace(o.GetNamespace()).Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err // a conflict too: before an owner goes, everything must be as it saw it
}

// ownerState is what has become of an owner.
type ownerState int

const (
	alive ownerState = iota
	waiting
	absent
)

// ownerIs asks for an owner of an object. That it is gone is what the server says, not a cache.
func (g *collector) ownerIs(ctx context.Context, of dependent, ref metav1.OwnerReference) (ownerState, error) {
	kind, err := g.kind(ref)
	if meta.IsNoMatchError(err) {
		return alive, nil // nobody knows
	}
	if err != nil {
		return alive, err
	}
	if err := g.watch(kind); err != nil {
		return alive, err
	}
	key := kind.key(of.GetNamespace(), ref.Name)
	owner := g.cached(kind.GroupVersionResource, key)
	if owner == nil || owner.GetUID() != ref.UID {
		fresh, err := g.metadata.Resource(kind.GroupVersionResource).Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && fresh.UID != ref.UID {
			return absent, nil
		}
		if err != nil {
			return alive, err
		}
		owner = fresh
	}
	if owner.GetDeletionTimestamp() != nil && slices.Contains(owner.GetFinalizers(), metav1.FinalizerDeleteDependents) {
		return waiting, nil
	}
	return alive, nil
}

func (g *collector) cached(r schema.GroupVersionResource, key types.NamespacedName) metav1.Object {
	g.mu.Lock()
	informer := g.watched[r]
	g.mu.Unlock()
	name := key.String()
	if key.Namespace == "" {
		name = key.Name
	}
	if o, found, err := informer.GetIndexer().GetByKey(name); err == nil && found {
		return o.(metav1.Object)
	}
	return nil
}

// kind returns the resource of an owner's kind.
func (g *collector) kind(ref metav1.OwnerReference) (kindOf, error) {
	gk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	g.mu.Lock()
	known, found := g.resource[gk.GroupKind()]
	g.mu.Unlock()
	if found {
		return known, nil
	}
	mapping, err := g.mapper.RESTMapping(gk.GroupKind(), gk.Version)
	if meta.IsNoMatchError(err) {
		g.mapper.Reset() // its definition may be newer
		mapping, err = g.mapper.RESTMapping(gk.GroupKind(), gk.Version)
	}
	if err != nil {
		return kindOf{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	known = kindOf{mapping.Resource, mapping.Scope.Name() == meta.RESTScopeNameNamespace}
	g.resource[gk.GroupKind()] = known
	return known, nil
}
