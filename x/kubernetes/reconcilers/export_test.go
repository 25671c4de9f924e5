package reconcilers

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	ctrlsource "sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// ClientsOf returns the clients of a round.
func ClientsOf[P, C controller.Object](reader client.Reader, writer client.Client, namespace string) (backend.ParentClient[P], backend.ChildClient[C]) {
	return objects[P]{reader, writer, schema.GroupVersionKind{}, namespace}, objects[C]{reader, writer, schema.GroupVersionKind{}, namespace}
}

// OwnerClientOf returns the client of objects that own pods.
func OwnerClientOf[T controller.Object](c client.Client, kind schema.GroupVersionKind, namespace string) backend.OwnerClient[T] {
	return objects[T]{c, c, kind, namespace}
}

// Round runs a round whose reconciler returns a time and an error.
func Round(next time.Time, err error) (reconcile.Result, error) {
	s := setup[types.NamespacedName]{reconcile: func(context.Context, types.NamespacedName) (time.Time, error) { return next, err }}
	return s.round(context.Background(), types.NamespacedName{})
}

// Source returns the source of events of an informer.
func Source(
	i toolscache.SharedIndexInformer, h func(controller.Queue[types.NamespacedName]) toolscache.ResourceEventHandler,
) ctrlsource.TypedSyncingSource[types.NamespacedName] {
	return source(i, h)
}
