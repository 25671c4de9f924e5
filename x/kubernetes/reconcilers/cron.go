package reconcilers

import (
	"cmp"
	"errors"
	"strings"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// Cron is a cron controller for parents and children of any kind.
type Cron[P, C controller.Object] struct {
	controller.CronJobOptions
	// Name is the name of the controller, in logs and metrics; empty means the kind of the parent. Controllers of one
	// manager must not share a name.
	Name string
	// Kind describes the two kinds. By default, their names come from the manager's scheme, and
	// their clients and informers come from the manager.
	Kind controller.Cron[P, C]
	// Client writes the objects; nil means the manager's client. Reader reads what caches may show
	// late; nil means the manager's reader of the API server.
	Client client.Client
	Reader client.Reader
}

// SetupWithManager adds the controller to a manager.
func (r Cron[P, C]) SetupWithManager(mgr ctrl.Manager) error {
	kind := r.Kind
	parent, err := nameKind[P](mgr, &kind.Parent)
	if err != nil {
		return err
	}
	child, err := nameKind[C](mgr, &kind.Child)
	if err != nil {
		return err
	}

	name := cmp.Or(r.Name, strings.ToLower(kind.Parent.Kind))
	if _, err := prepare(mgr, nil, &r.Common, name+"-controller"); err != nil {
		return err
	}
	if r.Client == nil {
		r.Client = mgr.GetClient()
	}
	if r.Reader == nil {
		r.Reader = mgr.GetAPIReader()
	}
	if kind.Parents == nil {
		kind.Parents = func(namespace string) backend.ParentClient[P] {
			return objects[P]{r.Reader, r.Client, kind.Parent, namespace}
		}
	}
	if kind.Children == nil {
		kind.Children = func(namespace string) backend.ChildClient[C] {
			return objects[C]{r.Reader, r.Client, kind.Child, namespace}
		}
	}

	if err := errors.Join(fill(mgr, &kind.ParentInformer, parent), fill(mgr, &kind.ChildInformer, child)); err != nil {
		return err
	}
	return addCronJobs(mgr, name, kind, r.CronJobOptions)
}
