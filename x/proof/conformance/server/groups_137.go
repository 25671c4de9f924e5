//go:build !before137

package server

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install" // conversions and defaults
	podgroupstorage "k8s.io/kubernetes/pkg/registry/scheduling/podgroup/storage"
	workloadstorage "k8s.io/kubernetes/pkg/registry/scheduling/workload/storage"
)

// addGroups adds the workloads and pod groups of gangs.
func (s *Server) addGroups() {
	version := schedulingv1beta1.SchemeGroupVersion
	s.add(&resource{
		name: Workloads, gr: scheduling.Resource(Workloads), kind: version.WithKind("Workload"),
		internal: func() runtime.Object { return &scheduling.Workload{} },
		external: func() object { return &schedulingv1beta1.Workload{} },
		listed: func(m metav1.ListMeta, all []object) runtime.Object {
			return &schedulingv1beta1.WorkloadList{ListMeta: m, Items: items[schedulingv1beta1.Workload](all)}
		},
	})
	s.add(&resource{
		name: PodGroups, gr: scheduling.Resource(PodGroups), kind: version.WithKind("PodGroup"),
		internal: func() runtime.Object { return &scheduling.PodGroup{} },
		external: func() object { return &schedulingv1beta1.PodGroup{} },
		listed: func(m metav1.ListMeta, all []object) runtime.Object {
			return &schedulingv1beta1.PodGroupList{ListMeta: m, Items: items[schedulingv1beta1.PodGroup](all)}
		},
	})

	workloads, err := workloadstorage.NewREST(options{s.resources[Workloads]})
	must(err)
	s.resources[Workloads].main = workloads
	podGroups, status, err := podgroupstorage.NewREST(options{s.resources[PodGroups]})
	must(err)
	s.resources[PodGroups].main, s.resources[PodGroups].status = podGroups, status
}

// Groups returns the workloads, and then the pod groups. They must not be written to.
func (s *Server) Groups() (all []metav1.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range []string{Workloads, PodGroups} {
		for _, o := range s.resources[name].in("") {
			all = append(all, o)
		}
	}
	return all
}

// collectGroups deletes the groups whose job is gone, or is being deleted in the foreground.
func (s *Server) collectGroups() (writes int) {
	for _, o := range s.Groups() {
		ref := metav1.GetControllerOf(o)
		if ref == nil || o.GetDeletionTimestamp() != nil {
			continue
		}
		if s.owner(o.GetNamespace(), ref) && !s.isGoing(o.GetNamespace(), ref.Name) {
			continue
		}
		s.ignore(nil, s.Delete(nameOf(o), o.GetNamespace(), o.GetName(), background(o)))
		writes++
	}
	return writes
}

// isGoing reports whether a job is being deleted in the foreground.
func (s *Server) isGoing(namespace, name string) bool {
	j := Get[*batchv1.Job](s, namespace, name)
	return j != nil && j.DeletionTimestamp != nil && slices.Contains(j.Finalizers, metav1.FinalizerDeleteDependents)
}

func nameOf(o metav1.Object) string {
	if _, ok := o.(*schedulingv1beta1.Workload); ok {
		return Workloads
	}
	return PodGroups
}

// SpecOf returns the spec of a workload or a pod group.
func SpecOf(o metav1.Object) any {
	if w, ok := o.(*schedulingv1beta1.Workload); ok {
		return w.Spec
	}
	return o.(*schedulingv1beta1.PodGroup).Spec
}

// GroupOf returns the group that a pod names.
func GroupOf(p *corev1.Pod) any { return p.Spec.SchedulingGroup }

// Ungroup deletes the objects of a resource, as a user may.
func (s *Server) Ungroup(resource string) error {
	for _, o := range s.Groups() {
		if nameOf(o) == resource {
			if err := s.Delete(resource, o.GetNamespace(), o.GetName(), metav1.DeleteOptions{}); err != nil {
				return err
			}
		}
	}
	return nil
}
