package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/google/uuid"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apiserver/pkg/registry/rest"
	clienttesting "k8s.io/client-go/testing"
)

// react answers a request of the client set: faults first, then the registry.
func (s *Server) react(action clienttesting.Action) (bool, runtime.Object, error) {
	if action.GetResource().Resource == Events {
		obj, err := s.reactEvent(action)
		return true, obj, err
	}
	r := s.resources[action.GetResource().Resource]
	if r == nil {
		return true, nil, apierrors.NewNotFound(action.GetResource().GroupResource(), "")
	}
	switch a := action.(type) {
	case clienttesting.GetActionImpl:
		obj, err := r.get(a.Namespace, a.Name)
		return true, obj, err
	case clienttesting.ListActionImpl:
		return true, r.listAll(a.Namespace), nil
	}
	w := describe(action)
	obj, err := s.tryWrite(r, &w, action)
	w.err(err)
	s.record(w)
	if err != nil {
		return true, nil, err
	}
	return true, obj, nil
}

// tryWrite makes the write unless a fault is in the way.
func (s *Server) tryWrite(r *resource, w *Write, action clienttesting.Action) (runtime.Object, error) {
	var fault error
	if s.Fault != nil {
		var applied bool
		if fault, applied = s.Fault(*w); fault != nil && !applied {
			return nil, fault
		}
	}
	before := s.version(r, action.GetNamespace(), w.Name)
	obj, err := r.write(action)
	if err == nil && obj != nil {
		w.Name = obj.(metav1.Object).GetName()
		w.Unchanged = obj.(metav1.Object).GetResourceVersion() == before
	}
	if err == nil {
		err = fault
	}
	return obj, err
}

// version is that of a stored object, or empty.
func (s *Server) version(r *resource, namespace, name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := r.objects[namespace+"/"+name]; o != nil {
		return o.GetResourceVersion()
	}
	return ""
}

func (r *resource) write(action clienttesting.Action) (runtime.Object, error) {
	namespace := action.GetNamespace()
	switch a := action.(type) {
	case clienttesting.CreateActionImpl:
		return r.create(namespace, a.Object)
	case clienttesting.UpdateActionImpl:
		return r.update(namespace, a.Object, a.Subresource)
	case clienttesting.PatchActionImpl:
		return r.patch(namespace, a.Name, a.Subresource, a.PatchType, a.Patch)
	case clienttesting.DeleteActionImpl:
		return nil, r.remove(namespace, a.Name, a.DeleteOptions)
	}
	return nil, apierrors.NewMethodNotSupported(r.gr, action.GetVerb())
}

func (r *resource) get(namespace, name string) (runtime.Object, error) {
	obj, err := r.main.Get(r.context("get", namespace, name, ""), name, &metav1.GetOptions{})
	return r.answer(obj, err)
}

// listAll lists a namespace, or all; the client set filters by labels.
func (r *resource) listAll(namespace string) runtime.Object {
	s := r.server
	s.mu.Lock()
	defer s.mu.Unlock()
	prefix := namespace
	if prefix != "" {
		prefix += "/"
	}
	version := metav1.ListMeta{ResourceVersion: fmt.Sprint(s.revision)}
	switch r.name {
	case Pods:
		return &corev1.PodList{ListMeta: version, Items: items[corev1.Pod](r.sorted(prefix))}
	case Jobs:
		return &batchv1.JobList{ListMeta: version, Items: items[batchv1.Job](r.sorted(prefix))}
	}
	return &batchv1.CronJobList{ListMeta: version, Items: items[batchv1.CronJob](r.sorted(prefix))}
}

func items[T any, P interface {
	*T
	DeepCopyInto(*T)
}](objects []object) []T {
	out := make([]T, len(objects))
	for i, o := range objects {
		any(o).(P).DeepCopyInto(&out[i])
	}
	return out
}

func (r *resource) create(namespace string, in runtime.Object) (runtime.Object, error) {
	obj := r.decode(in)
	o := obj.(metav1.Object)
	if r.server.isClosing(namespace) {
		return nil, errClosing(r, namespace, o.GetName())
	}
	r.server.name(o, namespace)
	defer r.server.seed(r.name + "/" + namespace + "/" + o.GetName())()
	out, err := r.tryCreate(r.context("create", namespace, o.GetName(), ""), obj)
	return r.answer(out, err)
}

// tryCreate answers a panic of the validation as an API server does: with an
// internal error. Kubernetes 1.36 panics over an Indexed job without completions
// whose successPolicy has a succeededCount.
func (r *resource) tryCreate(ctx context.Context, obj runtime.Object) (out runtime.Object, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, apierrors.NewInternalError(fmt.Errorf("%v", p))
		}
	}()
	return r.main.Create(ctx, obj, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
}

// uuids guards the one source of UIDs in the process.
var uuids sync.Mutex

// seed makes the next UID follow from the name of its object, and from how many of
// that name there were before.
func (s *Server) seed(name string) (done func()) {
	s.mu.Lock()
	n := s.born[name]
	s.born[name]++
	s.mu.Unlock()
	uuids.Lock()
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", name, n))
	uuid.SetRand(bytes.NewReader(sum[:]))
	return func() {
		uuid.SetRand(nil)
		uuids.Unlock()
	}
}

func (r *resource) update(namespace string, in runtime.Object, subresource string) (runtime.Object, error) {
	obj := r.decode(in)
	name := obj.(metav1.Object).GetName()
	out, _, err := r.updater(subresource).Update(r.context("update", namespace, name, subresource), name,
		rest.DefaultUpdatedObjectInfo(obj), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	return r.answer(out, err)
}

func (r *resource) updater(subresource string) rest.Updater {
	if subresource == "status" {
		return r.status
	}
	return r.main
}

// change updates an object as somebody who always reads it first.
func (r *resource) change(namespace, name, subresource string, how func(object)) (runtime.Object, error) {
	old, err := r.get(namespace, name)
	if err != nil {
		return nil, err
	}
	how(old.(object))
	return r.update(namespace, old, subresource)
}

func (r *resource) patch(namespace, name, subresource string, kind types.PatchType, patch []byte) (runtime.Object, error) {
	for {
		old, err := r.get(namespace, name)
		if err != nil {
			return nil, err
		}
		patched, err := r.patched(old, kind, patch)
		if err != nil {
			return nil, err
		}
		out, err := r.update(namespace, patched, subresource)
		if apierrors.IsConflict(err) && patched.(object).GetResourceVersion() == old.(object).GetResourceVersion() {
			continue // somebody was faster, and the patch does not mind
		}
		return out, err
	}
}

func (r *resource) patched(old runtime.Object, kind types.PatchType, patch []byte) (runtime.Object, error) {
	if kind != types.StrategicMergePatchType {
		return nil, apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "patch", r.gr, "", string(kind), 0, true)
	}
	data, err := json.Marshal(old)
	must(err)
	data, err = strategicpatch.StrategicMergePatch(data, patch, r.external())
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	out := r.external()
	if err := json.Unmarshal(data, out); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	created := old.(object).GetCreationTimestamp() // JSON has cut the rank off
	out.SetCreationTimestamp(created)
	return out, nil
}

func (r *resource) remove(namespace, name string, opts metav1.DeleteOptions) error {
	_, _, err := r.main.Delete(r.context("delete", namespace, name, ""), name, rest.ValidateAllObjectFunc, &opts)
	return err
}

// answer turns what the registry returned into what clients get.
func (r *resource) answer(obj runtime.Object, err error) (runtime.Object, error) {
	if err != nil {
		return nil, err
	}
	version := r.encode(obj)
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	if stored := r.objects[version.GetNamespace()+"/"+version.GetName()]; stored != nil {
		version.SetCreationTimestamp(stored.GetCreationTimestamp())
	}
	return version, nil
}

// name gives a name to an object that asks for a generated one.
func (s *Server) name(o metav1.Object, namespace string) {
	if o.GetName() != "" || o.GetGenerateName() == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	prefix := o.GetGenerateName()
	key := namespace + "/" + prefix
	s.names[key]++
	o.SetName(fmt.Sprintf("%s%05d", prefix, s.names[key]))
}

func (s *Server) isClosing(namespace string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing[namespace]
}

// errClosing is the answer of the admission plugin for namespaces.
func errClosing(r *resource, namespace, name string) error {
	err := apierrors.NewForbidden(r.gr, name,
		fmt.Errorf("unable to create new content in namespace %s because it is being terminated", namespace))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: fmt.Sprintf("namespace %s is being terminated", namespace),
		Field:   "metadata.namespace",
	})
	return err
}
