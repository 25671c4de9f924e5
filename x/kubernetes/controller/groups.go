package controller

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/internal/groups"
)

// Groups are the workloads and pod groups of a cluster, for jobs with Planner.Gangs (J44).
type Groups struct {
	client               dynamic.Interface
	workloads, podGroups cache.SharedIndexInformer
}

// NewGroups returns the groups of a factory. Call it before the factory starts.
func NewGroups(client dynamic.Interface, factory dynamicinformer.DynamicSharedInformerFactory) *Groups {
	return &Groups{
		client:    client,
		workloads: factory.ForResource(groups.Workloads).Informer(),
		podGroups: factory.ForResource(groups.PodGroups).Informer(),
	}
}

// The indexes of workloads by the object that they belong to, and of pod groups by their workload.
// The keys hold names and no UIDs, so the UID of the owner must be compared as well.
const (
	byJob      = "batchplan/job"
	byWorkload = "batchplan/workload"
)

func jobKey(namespace string, kind schema.GroupKind, name string) string {
	return namespace + "/" + kind.String() + "/" + name
}

func workloadKey(namespace, name string) string { return namespace + "/" + name }

// index adds the indexes to the caches.
func (g *Groups) index() error {
	byRef := func(o any) ([]string, error) {
		object := o.(*unstructured.Unstructured)
		kind, name := groups.WorkloadFor(object)
		if name == "" {
			return nil, nil
		}
		return []string{jobKey(object.GetNamespace(), kind, name)}, nil
	}
	byName := func(o any) ([]string, error) {
		object := o.(*unstructured.Unstructured)
		name := groups.PodGroupFrom(object)
		if name == "" {
			return nil, nil
		}
		return []string{workloadKey(object.GetNamespace(), name)}, nil
	}
	return errors.Join(addIndex(g.workloads, byJob, byRef), addIndex(g.podGroups, byWorkload, byName))
}

// missing returns an error if Planner.Gangs is set and cannot be used. If Gangs can be used,
// missing adds the indexes that it needs.
func (o *JobOptions) missing() error {
	switch {
	case !o.Planner.Gangs:
		return nil
	case o.Groups == nil:
		return errors.New("Planner.Gangs needs Groups")
	case !groups.Known():
		return errors.New("Planner.Gangs needs k8s.io/api v0.37 or later")
	}
	return o.Groups.index()
}

// of returns the groups of a job from the caches.
func (g *Groups) of(
	object Object, kind schema.GroupVersionKind, namespace string, template *corev1.PodTemplateSpec,
) jobgroup.Groups {
	found := jobgroup.Groups{Preset: groups.NamesGroup(template)}
	key := jobKey(namespace, kind.GroupKind(), object.GetName())
	if ref := metav1.GetControllerOf(object); ref != nil {
		found.Controlled = true
		key = jobKey(namespace, schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind(), ref.Name)
	}
	if name, is := object.GetAnnotations()[jobgroup.TemplateAnnotation]; is {
		found.Template = &name
	}
	workloads, _ := g.workloads.GetIndexer().ByIndex(byJob, key) // the index was added
	for _, o := range workloads {
		workload := groups.Workload(o.(*unstructured.Unstructured), object.GetUID())
		found.Workloads = append(found.Workloads, workload)
		members, _ := g.podGroups.GetIndexer().ByIndex(byWorkload, workloadKey(namespace, workload.Name))
		for _, o := range members {
			found.PodGroups = append(found.PodGroups, groups.PodGroup(o.(*unstructured.Unstructured), object.GetUID()))
		}
	}
	return found
}

// backend returns the backend that writes the groups of a job.
func (g *Groups) backend(
	namespace string, owner metav1.OwnerReference, value *job.Job, template *corev1.PodTemplateSpec,
) *backend.Groups {
	if g == nil {
		return nil // no plan asks for it
	}
	return &backend.Groups{
		Client: g.client, Namespace: namespace, Owner: owner,
		Scheduling: value.Spec.Scheduling, PriorityClass: template.Spec.PriorityClassName,
	}
}
