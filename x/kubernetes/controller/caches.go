package controller

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// byController is the index of pods by their namespace and the UID of their controller. The key of
// a pod without a controller is [ofNobody].
const byController = "batchplan/controller"

// ownedPods holds two caches: of the objects of a kind, and of pods.
type ownedPods struct {
	kind         ownerKind
	owners, pods cache.Indexer
}

// keyOf returns the key of an object in caches and queues.
func keyOf(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}

// named returns a key as an informer's cache and messages write it: namespace and name, or the name
// alone if there is no namespace.
func named(key types.NamespacedName) string {
	return cache.NewObjectName(key.Namespace, key.Name).String()
}

// Pods have two kinds of keys. Both contain the namespace, because any tenant can name any UID in a
// reference. A key of one kind never equals one of the other kind. It also never equals a key of a
// namespace and a name, because no name is empty.
func ofController(namespace string, uid types.UID) string { return namespace + "//" + string(uid) }
func ofNobody(namespace string) string                    { return namespace + "/" }

func controllerOf(object any) ([]string, error) {
	pod := object.(*corev1.Pod)
	if pod.UID == "" {
		return nil, nil // invalid: without a UID, a pod cannot be counted or told from others
	}
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		return []string{ofController(pod.Namespace, ref.UID)}, nil
	}
	return []string{ofNobody(pod.Namespace)}, nil
}

// addIndex adds an index unless another controller has already added it to the informer.
func addIndex(informer cache.SharedIndexInformer, name string, f cache.IndexFunc) error {
	if _, found := informer.GetIndexer().GetIndexers()[name]; found {
		return nil
	}
	if err := informer.AddIndexers(cache.Indexers{name: f}); err != nil {
		return fmt.Errorf("index %s: %w", name, err)
	}
	return nil
}

// ownerAt returns the owner of that name, or nil.
func (c *ownedPods) ownerAt(key types.NamespacedName) Object {
	object, found, err := c.owners.GetByKey(named(key))
	if err != nil || !found {
		return nil
	}
	return object.(Object)
}

// ownersIn returns all owners whose pods are in a namespace.
func (c *ownedPods) ownersIn(namespace string) (found []Object) {
	objects, err := c.owners.ByIndex(cache.NamespaceIndex, c.kind.ownNamespace(namespace))
	if err != nil {
		objects = c.owners.List() // an informer without the index
	}
	for _, o := range objects {
		if owner := o.(Object); c.kind.namespace(owner) == namespace {
			found = append(found, owner)
		}
	}
	return found
}

// ownerOf returns the owner that the pod's controller reference names, or nil.
func (c *ownedPods) ownerOf(p *corev1.Pod) Object {
	ref := metav1.GetControllerOfNoCopy(p)
	if ref == nil || ref.Kind != c.kind.gvk().Kind {
		return nil
	}
	owner := c.ownerAt(types.NamespacedName{Namespace: c.kind.ownNamespace(p.Namespace), Name: ref.Name})
	if owner == nil || owner.GetUID() != ref.UID || c.kind.namespace(owner) != p.Namespace {
		return nil
	}
	return owner
}

// podAt returns the pod of that name, or nil.
func (c *ownedPods) podAt(key types.NamespacedName) *corev1.Pod {
	object, found, err := c.pods.GetByKey(named(key))
	if err != nil || !found {
		return nil
	}
	return object.(*corev1.Pod)
}

// appendPods appends all pods that could belong to an owner: in the namespace of its pods, those
// that it controls and those without a controller.
func (c *ownedPods) appendPods(dst []*corev1.Pod, owner Object) []*corev1.Pod {
	namespace := c.kind.namespace(owner)
	dst = c.appendUnder(dst, ofController(namespace, owner.GetUID()))
	return c.appendUnder(dst, ofNobody(namespace))
}

func (c *ownedPods) appendUnder(dst []*corev1.Pod, key string) []*corev1.Pod {
	objects, err := c.pods.ByIndex(byController, key)
	if err != nil {
		return dst // unreachable: the index was added
	}
	for _, o := range objects {
		dst = append(dst, o.(*corev1.Pod))
	}
	return dst
}

// last returns the object of a deletion. If the deletion itself was missed, it is the last known
// state.
func last[T any](object any) (T, bool) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	o, ok := object.(T)
	return o, ok
}
