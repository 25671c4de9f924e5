package server

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
)

// The following methods are for schedulers, kubelets and users. Their requests meet no faults and
// are not in the journal.

// Create creates an object for a client other than the controllers.
func (s *Server) Create(obj runtime.Object) error {
	o := obj.(object)
	_, err := s.of(o).create(o.GetNamespace(), o)
	return err
}

// Change reads an object, lets the function change it, and updates it.
func Change[T runtime.Object](s *Server, namespace, name string, how func(T)) error {
	var t T
	_, err := s.of(t).change(namespace, name, "", func(o object) { how(any(o).(T)) })
	return err
}

// ChangeStatus is Change for the status subresource.
func ChangeStatus[T runtime.Object](s *Server, namespace, name string, how func(T)) error {
	var t T
	_, err := s.of(t).change(namespace, name, "status", func(o object) { how(any(o).(T)) })
	return err
}

// Overwrite changes a stored object without the registry: an older release may have stored what
// this one refuses.
func Overwrite[T runtime.Object](s *Server, namespace, name string, how func(T)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var t T
	m := memory{s.of(t)}
	stored := m.r.objects[namespace+"/"+name]
	if stored == nil {
		return
	}
	o := stored.DeepCopyObject().(object)
	how(any(o).(T))
	o.SetCreationTimestamp(metav1.NewTime(o.GetCreationTimestamp().Truncate(time.Second)))
	m.put(namespace+"/"+name, m.bytes(o), watch.Modified)
}

// Bind assigns a pod to a node, as a scheduler does.
func (s *Server) Bind(namespace, name, node string) error {
	return s.bind(namespace, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	})
}

func (s *Server) bind(namespace string, in *corev1.Binding) error {
	var binding core.Binding
	must(legacyscheme.Scheme.Convert(in.DeepCopy(), &binding, nil))
	ctx := s.resources[Pods].context("create", namespace, in.Name, "binding")
	_, err := s.binding.Create(ctx, in.Name, &binding, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	return err
}

// Delete deletes an object.
func (s *Server) Delete(resource, namespace, name string, opts metav1.DeleteOptions) error {
	return s.resources[resource].remove(namespace, name, opts)
}

// Get reads an object, or nil.
func Get[T runtime.Object](s *Server, namespace, name string) (out T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.of(out).objects[namespace+"/"+name]; o != nil {
		out = any(o).(T)
	}
	return out
}

// List returns the objects of a kind, sorted by namespace and name. The caller must not change
// them.
func List[T runtime.Object](s *Server) []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	var t T
	var out []T
	for _, o := range s.of(t).in("") {
		out = append(out, any(o).(T))
	}
	return out
}

// Changes calls a function with the changes of a kind after a revision, in order, and returns the
// server's revision.
func Changes[T runtime.Object](s *Server, after int64, each func(o T, isDeleted bool)) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var t T
	r := s.of(t)
	for _, c := range r.history[r.after(after):] {
		each(any(c.object).(T), c.kind == watch.Deleted)
	}
	return s.revision
}

func (s *Server) of(obj runtime.Object) *resource {
	switch obj.(type) {
	case *corev1.Pod:
		return s.resources[Pods]
	case *batchv1.Job:
		return s.resources[Jobs]
	}
	return s.resources[CronJobs]
}

// Collect acts as the garbage collector until nothing is left to do, and returns the number of its
// writes.
func (s *Server) Collect() (writes int) {
	for {
		now := s.stored()
		if now == s.collected {
			return writes
		}
		n := s.collectOnce()
		if n == 0 {
			s.collected = now
			return writes
		}
		writes += n
	}
}

// stored returns the resource version of the last change.
func (s *Server) stored() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

func (s *Server) collectOnce() (writes int) {
	for _, job := range List[*batchv1.Job](s) {
		writes += s.collectOwner(job)
		writes += s.collectDependent(Jobs, job)
	}
	for _, c := range List[*batchv1.CronJob](s) {
		writes += s.collectOwner(c)
	}
	for _, pod := range List[*corev1.Pod](s) {
		writes += s.collectDependent(Pods, pod)
	}
	return writes + s.collectGroups()
}

// collectOwner handles the finalizers of an owner whose deletion waits for its dependents: in the
// foreground they are deleted first, and with the policy Orphan they lose their owner first.
func (s *Server) collectOwner(o object) int {
	if o.GetDeletionTimestamp() == nil {
		return 0
	}
	resource, dependents := Pods, dependentsOf(List[*corev1.Pod](s), o)
	if _, ok := o.(*batchv1.CronJob); ok {
		resource, dependents = Jobs, dependentsOf(List[*batchv1.Job](s), o)
	}
	switch {
	case slices.Contains(o.GetFinalizers(), metav1.FinalizerOrphanDependents):
		for _, d := range dependents {
			s.ignore(s.resources[resource].change(d.GetNamespace(), d.GetName(), "", func(d object) {
				d.SetOwnerReferences(slices.DeleteFunc(d.GetOwnerReferences(),
					func(r metav1.OwnerReference) bool { return r.UID == o.GetUID() }))
			}))
		}
		return len(dependents) + s.dropFinalizer(o, metav1.FinalizerOrphanDependents)
	case slices.Contains(o.GetFinalizers(), metav1.FinalizerDeleteDependents):
		writes, left := 0, 0
		for _, d := range dependents {
			left++
			if d.GetDeletionTimestamp() == nil {
				writes++
				s.ignore(nil, s.Delete(resource, d.GetNamespace(), d.GetName(), background(d)))
			}
		}
		if left > 0 {
			return writes
		}
		return s.dropFinalizer(o, metav1.FinalizerDeleteDependents)
	}
	return 0
}

// collectDependent deletes an object whose owner is gone.
func (s *Server) collectDependent(resource string, o object) int {
	ref := metav1.GetControllerOf(o)
	if ref == nil || o.GetDeletionTimestamp() != nil || s.owner(o.GetNamespace(), ref) {
		return 0
	}
	s.ignore(nil, s.Delete(resource, o.GetNamespace(), o.GetName(), background(o)))
	return 1
}

// owner reports whether the owner exists. Owners of kinds other than Job and CronJob always exist.
func (s *Server) owner(namespace string, ref *metav1.OwnerReference) bool {
	switch ref.Kind {
	case "Job":
		j := Get[*batchv1.Job](s, namespace, ref.Name)
		return j != nil && j.UID == ref.UID
	case "CronJob":
		c := Get[*batchv1.CronJob](s, namespace, ref.Name)
		return c != nil && c.UID == ref.UID
	}
	return true
}

// dropFinalizer removes a finalizer from an object. If the registry refuses the
// object as it is, the finalizer stays, as in a cluster.
func (s *Server) dropFinalizer(o object, finalizer string) int {
	_, err := s.of(o).change(o.GetNamespace(), o.GetName(), "", func(o object) {
		o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return f == finalizer }))
	})
	if err != nil {
		return 0
	}
	return 1
}

// ignore ignores the result of a write of the collector, which looks again anyway.
func (s *Server) ignore(runtime.Object, error) {}

func background(o metav1.Object) metav1.DeleteOptions {
	policy, uid := metav1.DeletePropagationBackground, o.GetUID()
	return metav1.DeleteOptions{PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &uid}}
}

func dependentsOf[T object](all []T, owner object) (out []object) {
	for _, o := range all {
		if slices.ContainsFunc(o.GetOwnerReferences(),
			func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() }) {
			out = append(out, o)
		}
	}
	return out
}
