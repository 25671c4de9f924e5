package reconcilers

import (
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// JobOf is all that a resource of your own needs to be a job: the Job controller, the controller of
// pods that have lost their object, and the one that deletes objects after ttlSecondsAfterFinished.
type JobOf[T controller.Object] struct {
	controller.JobOptions
	// Kind describes the resource. Its name is taken from the manager's scheme, and its clients from the manager,
	// unless they are set.
	Kind controller.Kind[T]
	// Client writes the objects; nil means the manager's. Reader reads what caches may show late; nil means the
	// manager's reader of the API server.
	Client client.Client
	Reader client.Reader
	// Pods writes pods and events; nil means a client of the manager's configuration.
	Pods kubernetes.Interface
}

// SetupWithManager adds the controllers to a manager.
func (r JobOf[T]) SetupWithManager(mgr ctrl.Manager) error {
	kind := r.Kind
	of, err := nameKind[T](mgr, &kind.GroupVersionKind)
	if err != nil {
		return err
	}
	if r.Pods, err = prepare(mgr, r.Pods, &r.Common, strings.ToLower(kind.Kind)+"-controller"); err != nil {
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

	owners, pods, err := informersOf(mgr, of, &corev1.Pod{})
	if err != nil {
		return err
	}

	name := strings.ToLower(kind.Kind)
	orphan := controller.OrphanOptions{Common: r.Common, ManagedBy: r.ManagedBy, Planner: r.Planner}
	ttl := controller.TTLOptions{Common: r.Common, ManagedBy: r.ManagedBy, Planner: r.Planner}
	ttl.Metrics, _ = r.Metrics.(controller.TTLMetrics)
	return errors.Join(
		addJobs(mgr, name, kind, r.Pods, owners, pods, r.JobOptions),
		addOrphans(mgr, name+"-orphan", kind, r.Pods, owners, pods, orphan),
		addTTL(mgr, name+"-ttl", kind, owners, ttl),
	)
}
