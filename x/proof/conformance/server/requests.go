package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
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
		if s.Fault != nil {
			if err, _ := s.Fault(Write{Time: time.Now(), Verb: "get", Resource: r.name, Name: a.Name}); err != nil {
				return true, nil, err
			}
		}
		obj, err := r.get(a.Namespace, a.Name)
		return true, obj, err
	case clienttesting.ListActionImpl:
		obj, err := r.list(a.Namespace, a.ListRestrictions.Fields)
		return true, obj, asStatus(err)
	}
	w := describe(action)
	obj, err := s.tryWrite(r, &w, action)
	err = asStatus(err)
	w.err(err)
	s.record(w)
	if err != nil {
		return true, nil, err
	}
	return true, obj, nil
}

// errAborted is the error of a client when the server panics: the connection breaks.
var errAborted = errors.New("the connection was lost")

// asStatus converts errors of the registry that are not API statuses to the server's answer.
func asStatus(err error) error {
	if err == nil || errors.Is(err, errAborted) || errors.As(err, new(apierrors.APIStatus)) {
		return err
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error(),
	}}
}

// tryWrite makes the write unless a fault prevents it.
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

// version returns the version of a stored object, or "".
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
		if a.Subresource == "binding" {
			return nil, r.server.bind(namespace, a.Object.(*corev1.Binding))
		}
		return r.create(namespace, a.Object.(object))
	case clienttesting.UpdateActionImpl:
		return r.update(namespace, a.Object.(object), a.Subresource)
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

// list lists the objects of one namespace, or of all; the client set filters by labels.
func (r *resource) list(namespace string, by fields.Selector) (runtime.Object, error) {
	matching, err := r.matching(namespace, by)
	if err != nil {
		return nil, err
	}
	s := r.server
	s.mu.Lock()
	defer s.mu.Unlock()
	objects := r.in(namespace)
	if matching != nil {
		objects = slices.DeleteFunc(slices.Clone(objects), func(o object) bool { return !matching[o.GetUID()] })
	}
	version := metav1.ListMeta{ResourceVersion: fmt.Sprint(s.revision)}
	return r.listed(version, objects), nil
}

// matching returns the UIDs of the objects that the registry selects by fields; nil means all.
func (r *resource) matching(namespace string, by fields.Selector) (map[types.UID]bool, error) {
	if by == nil || by.Empty() {
		return nil, nil
	}
	by, err := by.Transform(func(field, value string) (string, string, error) {
		return legacyscheme.Scheme.ConvertFieldLabel(r.kind, field, value)
	})
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	list, err := r.main.List(r.context("list", namespace, "", ""), &metainternalversion.ListOptions{FieldSelector: by})
	if err != nil {
		return nil, err
	}
	uids := map[types.UID]bool{}
	err = meta.EachListItem(list, func(o runtime.Object) error {
		uids[o.(metav1.Object).GetUID()] = true
		return nil
	})
	return uids, err
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

func (r *resource) create(namespace string, in object) (runtime.Object, error) {
	obj := r.decode(in)
	o := obj.(metav1.Object)
	rest.WipeObjectMetaSystemFields(o)
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(namespace, o); err != nil {
		return nil, err
	}
	dropTwins(o)
	if r.server.isClosing(namespace) {
		return nil, errClosing(r, namespace, o.GetName())
	}
	r.server.name(o, namespace)
	defer r.server.seed(r.name + "/" + namespace + "/" + o.GetName())()
	out, err := r.tryCreate(r.context("create", namespace, o.GetName(), ""), obj)
	return r.answer(out, err)
}

// tryCreate survives a panic of the validation: in Kubernetes 1.36 it panics for an
// Indexed job with a successPolicy and without completions.
func (r *resource) tryCreate(ctx context.Context, obj runtime.Object) (out runtime.Object, err error) {
	defer func() {
		if recover() != nil {
			out, err = nil, errAborted
		}
	}()
	return r.main.Create(ctx, obj, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
}

// dropTwins drops duplicate owners, as the server does before it checks them.
func dropTwins(o metav1.Object) {
	var owners []metav1.OwnerReference
	for _, ref := range o.GetOwnerReferences() {
		if !slices.ContainsFunc(owners,
			func(r metav1.OwnerReference) bool { return equality.Semantic.DeepEqual(r, ref) }) {
			owners = append(owners, ref)
		}
	}
	if len(owners) < len(o.GetOwnerReferences()) {
		o.SetOwnerReferences(owners)
	}
}

// uuids guards the process-wide source of UIDs.
var uuids sync.Mutex

// seed makes the next UID depend on the name of its object and on the number of
// earlier objects of this name.
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

func (r *resource) update(namespace string, in object, subresource string) (runtime.Object, error) {
	obj := r.decode(in)
	o := obj.(metav1.Object)
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(namespace, o); err != nil {
		return nil, err
	}
	dropTwins(o)
	return r.replace(namespace, o.GetName(), subresource, rest.DefaultUpdatedObjectInfo(obj))
}

func (r *resource) replace(namespace, name, subresource string, by rest.UpdatedObjectInfo) (runtime.Object, error) {
	out, _, err := r.updater(subresource).Update(r.context("update", namespace, name, subresource), name, by,
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	return r.answer(out, err)
}

func (r *resource) updater(subresource string) rest.Updater {
	if subresource == "status" {
		return r.status
	}
	return r.main
}

// change updates an object like a client that reads it first.
func (r *resource) change(namespace, name, subresource string, how func(object)) (runtime.Object, error) {
	old, err := r.get(namespace, name)
	if err != nil {
		return nil, err
	}
	how(old.(object))
	return r.update(namespace, old.(object), subresource)
}

func (r *resource) remove(namespace, name string, opts metav1.DeleteOptions) error {
	_, _, err := r.main.Delete(r.context("delete", namespace, name, ""), name, rest.ValidateAllObjectFunc, &opts)
	return err
}

// answer converts the registry's result to the form in which clients get it. That is mostly what
// was stored last.
func (r *resource) answer(obj runtime.Object, err error) (runtime.Object, error) {
	if err != nil {
		return nil, err
	}
	o := obj.(metav1.Object)
	r.server.mu.Lock()
	stored := r.objects[o.GetNamespace()+"/"+o.GetName()]
	r.server.mu.Unlock()

	if stored != nil && stored.GetUID() == o.GetUID() && stored.GetResourceVersion() == o.GetResourceVersion() {
		return stored.DeepCopyObject(), nil
	}
	version := r.encode(obj)
	if stored != nil && stored.GetUID() == version.GetUID() {
		version.SetCreationTimestamp(stored.GetCreationTimestamp())
	}
	return version, nil
}

// name generates the name of an object that asks for one.
func (s *Server) name(o metav1.Object, namespace string) {
	if o.GetName() != "" || o.GetGenerateName() == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	prefix := base(o.GetGenerateName())
	key := namespace + "/" + prefix
	s.names[key]++
	o.SetName(fmt.Sprintf("%s%05d", prefix, s.names[key]))
}

// base returns the part of the prefix that a generated name keeps.
func base(prefix string) string {
	return prefix[:min(len(prefix), names.MaxGeneratedNameLength)]
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
