package script

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/batchplan/batchplan/x/proof/conformance/server"
)

// fault refuses writes for some time. Whether it hits a write depends only on the
// write, not on the number of earlier ones, since the order of a controller's
// concurrent writes is random.
type fault struct {
	verb, resource string
	how            string
	// share is "all", or "even" or "odd" for half of the names.
	share string
	until time.Time
}

// addFault puts a fault on writes. Its arguments are the verb, the resource, how the writes fail,
// their share, and the duration.
func addFault(w *World, _ *Script, s Step) error {
	w.faults = append(w.faults, fault{s.Arg(0), s.Arg(1), s.Arg(2), s.Arg(3), time.Now().Add(duration(s.Arg(4)))})
	return nil
}

func (w *World) fault(write server.Write) (err error, applied bool) {
	if write.Verb != "get" && w.rest.isOver(time.Now()) {
		return apierrors.NewInternalError(errors.New("too many writes at once")), false
	}
	for _, f := range w.faults {
		if f.hits(write) {
			w.chances.note(w, write, true)
			if f.how == "gone" && write.Verb == "patch" && write.Resource == server.Pods {
				w.takeAway(write.Name)
			}
			return f.answer(write), f.how == "lost"
		}
	}
	w.chances.note(w, write, false)
	return nil, false
}

// takeAway removes a pod that a fault reports as gone, since the server must not show the pod
// again. Users may remove a pod at any time. Pods that have an owner and no finalizer stay, since
// the real controller patches them and our controller does not.
func (w *World) takeAway(name string) {
	p := server.Get[*corev1.Pod](w.Server, Namespace, name)
	if p == nil || !isTracked(p) && metav1.GetControllerOf(p) != nil {
		return
	}
	none := int64(0)
	// A pod that is being deleted is gone as soon as its finalizer is removed.
	_ = strip(w, p, Step{})
	if err := w.Delete(server.Pods, Namespace, name, metav1.DeleteOptions{GracePeriodSeconds: &none}); err != nil &&
		!apierrors.IsNotFound(err) {
		panic(err)
	}
}

func (f *fault) hits(w server.Write) bool {
	resource := w.Resource
	if w.Subresource != "" {
		resource += "/" + w.Subresource
	}
	if f.verb != w.Verb || f.resource != resource || !time.Now().Before(f.until) {
		return false
	}
	if f.share == "all" {
		return true
	}
	h := fnv.New32()
	fmt.Fprint(h, strings.TrimRight(w.Name, "-")+"/"+w.Index)
	return (h.Sum32()%2 == 0) == (f.share == "even")
}

func (f *fault) answer(w server.Write) error {
	gr := schema.GroupResource{Resource: w.Resource}
	switch f.how {
	case "conflict":
		return apierrors.NewConflict(gr, w.Name, errors.New("the script says so"))
	case "quota":
		return apierrors.NewForbidden(gr, w.Name, errors.New("exceeded quota: the script says so"))
	case "gone":
		return apierrors.NewNotFound(gr, w.Name)
	}
	return apierrors.NewInternalError(errors.New("the script says so"))
}
