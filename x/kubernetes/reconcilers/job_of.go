package reconcilers

import (
	"cmp"
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// JobOf runs a resource of your own as jobs. It adds three controllers: the Job controller, the
// orphan controller, and the TTL controller.
type JobOf[T controller.Object] struct {
	controller.JobOptions
	// TTLMetrics are the metrics of the TTL controller.
	TTLMetrics controller.TTLMetrics
	// Name is the name of the Job controller in logs and metrics; empty means the kind. The other
	// controllers append "-orphan" and "-ttl" to it. Controllers of one manager must not share a
	// name.
	Name string
	// Kind describes the resource. By default, its name comes from the manager's scheme, and its
	// clients and informers come from the manager.
	Kind controller.Kind[T]
	// Client writes the objects; nil means the manager's client. Reader reads what caches may show
	// late; nil means the manager's reader of the API server.
	Client client.Client
	Reader client.Reader
}

// SetupWithManager adds the controllers to a manager.
func (r JobOf[T]) SetupWithManager(mgr ctrl.Manager) error {
	kind := r.Kind
	of, err := nameKind[T](mgr, &kind.GroupVersionKind)
	if err != nil {
		return err
	}
	name := cmp.Or(r.Name, strings.ToLower(kind.Kind))
	if kind.PodClient, err = prepare(mgr, kind.PodClient, &r.Common, name+"-controller"); err != nil {
		return err
	}

	if r.Client == nil {
		r.Client = mgr.GetClient()
	}
	if r.Reader == nil {
		r.Reader = mgr.GetAPIReader()
	}
	if kind.Objects == nil {
		kind.Objects = func(namespace string) backend.OwnerClient[T] {
			return objects[T]{r.Reader, r.Client, kind.GroupVersionKind, namespace}
		}
	}

	err = errors.Join(fill(mgr, &kind.ObjectInformer, of), fill(mgr, &kind.PodInformer, &corev1.Pod{}))
	if err != nil {
		return err
	}

	orphan := controller.OrphanOptions{Common: r.Common, ManagedBy: r.ManagedBy, Planner: r.Planner}
	ttl := controller.TTLOptions{Common: r.Common, ManagedBy: r.ManagedBy, Planner: r.Planner, Metrics: r.TTLMetrics}
	return errors.Join(
		addJobs(mgr, name, kind, r.JobOptions),
		addOrphans(mgr, name+"-orphan", kind, orphan),
		addTTL(mgr, name+"-ttl", kind, ttl),
	)
}
