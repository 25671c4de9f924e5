package reconcilers

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// ClientsOf returns the clients of a round.
func ClientsOf[P, C controller.Object](reader client.Reader, writer client.Client, namespace string) (backend.ParentClient[P], backend.ChildClient[C]) {
	return objects[P]{reader, writer, schema.GroupVersionKind{}, namespace}, objects[C]{reader, writer, schema.GroupVersionKind{}, namespace}
}

// OwnerClientOf returns the client of objects that own pods.
func OwnerClientOf[T controller.Object](c client.Client, namespace string) backend.OwnerClient[T] {
	return objects[T]{c, c, schema.GroupVersionKind{}, namespace}
}
