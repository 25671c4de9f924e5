package batchtest

import (
	"context"
	"encoding/json"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// dependent is an object that another one owns.
type dependent struct {
	metav1.Object
	resource schema.GroupVersionResource
}

// look does what is due for one object.
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

// judge removes the references of an object to owners that are gone, or that wait for the end of
// the object. If no other owner is left, it deletes the object instead.
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

// delete deletes an object that no owner needs. If an owner waits for the object, the dependents of
// the object are deleted before it, and otherwise after it.
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

// foreground deletes the dependents of an object, and releases it when none of them blocks it.
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
		return nil // the end of a dependent queues its owner
	}
	return g.release(ctx, o, metav1.FinalizerDeleteDependents)
}

// orphan removes the references to an object from its dependents, and releases the object.
func (g *collector) orphan(ctx context.Context, o dependent) error {
	for _, d := range g.dependents(o.GetUID()) {
		isTo := func(ref metav1.OwnerReference) bool { return ref.UID == o.GetUID() }
		refs := slices.DeleteFunc(slices.Clone(d.GetOwnerReferences()), isTo)
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

// patch replaces fields of the metadata if the version of the object is unchanged.
func (g *collector) patch(ctx context.Context, o dependent, fields map[string]any) error {
	fields["uid"], fields["resourceVersion"] = o.GetUID(), o.GetResourceVersion()
	patch, err := json.Marshal(map[string]any{"metadata": fields})
	if err != nil {
		return err // unreachable
	}
	client := g.metadata.Resource(o.resource).Namespace(o.GetNamespace())
	_, err = client.Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err // a conflict is an error too: an owner is released only after all of these patches
}

// ownerState is the state of an owner: alive, waiting for the end of its dependents, or absent.
type ownerState int

// ownerIs returns the state of an owner. An owner is absent only if the server does not have it. An
// owner that the cache lacks may still exist.
func (g *collector) ownerIs(ctx context.Context, of dependent, ref metav1.OwnerReference) (ownerState, error) {
	kind, err := g.kind(ref)
	if meta.IsNoMatchError(err) {
		return alive, nil // the kind is unknown
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
		client := g.metadata.Resource(kind.GroupVersionResource).Namespace(key.Namespace)
		fresh, err := client.Get(ctx, key.Name, metav1.GetOptions{})
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
		g.mapper.Reset() // the kind may be newer than the known ones
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
