package reconcilers

import (
	"context"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// nameKind returns an empty object, and sets the kind from the scheme unless it is set.
func nameKind[T controller.Object](mgr ctrl.Manager, kind *schema.GroupVersionKind) (T, error) {
	object := newOf[T](*kind)
	if kind.Kind != "" {
		return object, nil
	}
	found, err := apiutil.GVKForObject(object, mgr.GetScheme())
	if err != nil {
		return object, fmt.Errorf("kind of %T: %w", object, err)
	}
	*kind = found
	return object, nil
}

// newOf returns an empty object. T is a type of pointers.
func newOf[T controller.Object](kind schema.GroupVersionKind) T {
	object := reflect.New(reflect.TypeFor[T]().Elem()).Interface()
	if u, ok := object.(*unstructured.Unstructured); ok {
		u.SetGroupVersionKind(kind)
	}
	return object.(T)
}

// objects reads and writes one kind in one namespace with controller-runtime's clients.
type objects[T controller.Object] struct {
	reader    client.Reader
	writer    client.Client
	kind      schema.GroupVersionKind
	namespace string
}

// Get implements [backend.ParentClient], [backend.ChildClient] and [backend.OwnerClient].
func (o objects[T]) Get(ctx context.Context, name string, _ metav1.GetOptions) (T, error) {
	object := newOf[T](o.kind)
	err := o.reader.Get(ctx, client.ObjectKey{Namespace: o.namespace, Name: name}, object)
	return object, err
}

// UpdateStatus implements [backend.ParentClient]. It fails if the object's version is old.
func (o objects[T]) UpdateStatus(ctx context.Context, object T, _ metav1.UpdateOptions) (T, error) {
	err := o.writer.Status().Update(ctx, object)
	return object, err
}

// Create implements [backend.ChildClient].
func (o objects[T]) Create(ctx context.Context, object T, _ metav1.CreateOptions) (T, error) {
	err := o.writer.Create(ctx, object)
	return object, err
}

// Patch implements [backend.OwnerClient].
func (o objects[T]) Patch(
	ctx context.Context, name string, t types.PatchType, patch []byte, _ metav1.PatchOptions,
	subresources ...string,
) (T, error) {
	object := newOf[T](o.kind)
	object.SetNamespace(o.namespace)
	object.SetName(name)
	if len(subresources) > 0 {
		return object, fmt.Errorf("patch of %s %s: subresources %q are not supported", o.kind.Kind, name, subresources)
	}
	err := o.writer.Patch(ctx, object, client.RawPatch(t, patch))
	return object, err
}

// Delete implements [backend.ChildClient] and [backend.OwnerClient].
func (o objects[T]) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	object := newOf[T](o.kind)
	object.SetNamespace(o.namespace)
	object.SetName(name)
	return o.writer.Delete(ctx, object, &client.DeleteOptions{
		Preconditions:     options.Preconditions,
		PropagationPolicy: options.PropagationPolicy,
	})
}
