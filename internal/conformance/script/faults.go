package script

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/batchplan/batchplan/internal/conformance/server"
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

// addFault puts a fault on writes: verb, resource, how, share, for how long.
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
			if write.Verb == "get" && write.Resource == server.CronJobs {
				w.blind.Store(true)
			}
			return f.answer(write), f.how == "lost"
		}
	}
	return nil, false
}

// IsBlind reports whether the controller of CronJobs was refused a look at one with several
// jobs. The real controller looks when it comes to a job that the status does not name, and
// then stops: what it does for the jobs before depends on the order of its cache.
func (w *World) IsBlind() bool {
	return w.blind.Load() && len(server.List[*batchv1.Job](w.Server)) > 1
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
