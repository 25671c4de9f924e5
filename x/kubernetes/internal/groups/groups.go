// Package groups reads and writes the workloads and pod groups of scheduling.k8s.io (J44), and the
// group that a pod names. Their types are in k8s.io/api from v0.37 on, and this module also builds
// with older versions. So objects are unstructured, and fields are found by reflection.
package groups

import (
	"encoding/json"
	"fmt"
	"reflect"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// The resources.
var (
	schedulingVersion = schema.GroupVersion{Group: "scheduling.k8s.io", Version: "v1beta1"}
	Workloads         = schedulingVersion.WithResource("workloads")
	PodGroups         = schedulingVersion.WithResource("podgroups")
)

// policy, workloadSpec and podGroupSpec have only the fields that decisions need.
type policy struct {
	Gang *struct {
		MinCount int32 `json:"minCount"`
	} `json:"gang"`
}

func (p policy) size() int32 {
	if p.Gang == nil {
		return 0
	}
	return p.Gang.MinCount
}

type workloadSpec struct {
	ControllerRef *struct {
		APIGroup string `json:"apiGroup"`
		Kind     string `json:"kind"`
		Name     string `json:"name"`
	} `json:"controllerRef"`
	PodGroupTemplates []struct {
		Name             string `json:"name"`
		SchedulingPolicy policy `json:"schedulingPolicy"`
	} `json:"podGroupTemplates"`
}

type podGroupSpec struct {
	WorkloadRef *struct {
		WorkloadName string `json:"workloadName"`
	} `json:"workloadRef"`
	SchedulingPolicy policy `json:"schedulingPolicy"`
}

// specOf reads the spec of an object. Fields that cannot be read are empty.
func specOf[T any](o *unstructured.Unstructured) (spec T) {
	tree, _, _ := unstructured.NestedMap(o.Object, "spec")
	_ = runtime.DefaultUnstructuredConverter.FromUnstructured(tree, &spec)
	return spec
}

// WorkloadFor returns the group, kind and name of the object that a workload belongs to. The name
// is empty if there is none.
func WorkloadFor(o *unstructured.Unstructured) (schema.GroupKind, string) {
	ref := specOf[workloadSpec](o).ControllerRef
	if ref == nil {
		return schema.GroupKind{}, ""
	}
	return schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}, ref.Name
}

// PodGroupFrom returns the name of the workload that a pod group is made from, or "".
func PodGroupFrom(o *unstructured.Unstructured) string {
	if ref := specOf[podGroupSpec](o).WorkloadRef; ref != nil {
		return ref.WorkloadName
	}
	return ""
}

// Workload returns the planner's value of a workload. Owner is the UID of the job.
func Workload(o *unstructured.Unstructured, owner types.UID) jobgroup.Workload {
	w := jobgroup.Workload{Ref: groupRef(o), Foreign: isForeign(o, owner)}
	for _, t := range specOf[workloadSpec](o).PodGroupTemplates {
		w.Templates = append(w.Templates, jobgroup.Template{Name: t.Name, MinCount: t.SchedulingPolicy.size()})
	}
	return w
}

// PodGroup returns the planner's value of a pod group. Owner is the UID of the job.
func PodGroup(o *unstructured.Unstructured, owner types.UID) jobgroup.PodGroup {
	return jobgroup.PodGroup{
		Ref:      groupRef(o),
		Foreign:  isForeign(o, owner),
		Workload: PodGroupFrom(o),
		MinCount: specOf[podGroupSpec](o).SchedulingPolicy.size(),
	}
}

func groupRef(o *unstructured.Unstructured) jobgroup.Ref {
	return jobgroup.Ref{Name: o.GetName(), UID: job.UID(o.GetUID())}
}

func isForeign(o *unstructured.Unstructured, owner types.UID) bool {
	ref := metav1.GetControllerOf(o)
	return ref == nil || ref.UID != owner
}

// NewWorkload returns the workload that a plan creates. It is controlled by the owner, and has the
// fields of the job's spec.scheduling and the priority class of its pods.
func NewWorkload(
	namespace string, owner metav1.OwnerReference, w *jobgroup.Write, scheduling *jobgroup.Scheduling,
	priorityClass string,
) (*unstructured.Unstructured, error) {
	template := map[string]any{"name": w.Template, "schedulingPolicy": policyOf(w.MinCount)}
	if priorityClass != "" {
		template["priorityClassName"] = priorityClass
	}

	if scheduling != nil {
		rest := map[string]any{
			"schedulingConstraints": scheduling.SchedulingConstraints,
			"disruptionMode":        scheduling.DisruptionMode,
			"resourceClaims":        scheduling.ResourceClaims,
		}
		for field, value := range rest {
			tree, err := treeOf(value)
			if err != nil {
				return nil, fmt.Errorf("spec.scheduling.%s: %w", field, err)
			}
			if tree != nil {
				template[field] = tree
			}
		}
	}

	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return nil, err
	}
	spec := map[string]any{
		"controllerRef":     map[string]any{"apiGroup": gv.Group, "kind": owner.Kind, "name": owner.Name},
		"podGroupTemplates": []any{template},
	}
	return newObject("Workload", namespace, w.Name, spec, owner), nil
}

// NewPodGroup returns the pod group that a plan creates from a template of the workload.
func NewPodGroup(
	namespace string, owner metav1.OwnerReference, w *jobgroup.Write, workload *unstructured.Unstructured,
) (*unstructured.Unstructured, error) {
	templates, _, err := unstructured.NestedSlice(workload.Object, "spec", "podGroupTemplates")
	if err != nil {
		return nil, err
	}

	for _, t := range templates {
		template, ok := t.(map[string]any)
		if !ok || template["name"] != w.Template {
			continue
		}

		spec := map[string]any{
			"workloadRef":      map[string]any{"workloadName": w.Workload.Name, "templateName": w.Template},
			"schedulingPolicy": policyOf(w.MinCount),
		}
		for _, field := range [...]string{
			"schedulingConstraints", "disruptionMode", "resourceClaims", "priorityClassName", "priority",
		} {
			if value := template[field]; value != nil {
				spec[field] = value
			}
		}

		owners := []metav1.OwnerReference{owner}
		if w.Workload.UID != "" {
			owners = append(owners, metav1.OwnerReference{
				APIVersion: schedulingVersion.String(),
				Kind:       "Workload",
				Name:       w.Workload.Name,
				UID:        types.UID(w.Workload.UID),
			})
		}
		return newObject("PodGroup", namespace, w.Name, spec, owners...), nil
	}
	return nil, fmt.Errorf("workload %s has no template %s", workload.GetName(), w.Template)
}

func policyOf(size int32) map[string]any {
	if size == 0 {
		return map[string]any{"basic": map[string]any{}}
	}
	return map[string]any{"gang": map[string]any{"minCount": int64(size)}}
}

// treeOf returns a value as plain JSON, or nil if there is none.
func treeOf(value any) (tree any, err error) {
	data, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(data, &tree)
	}
	return tree, err
}

func newObject(
	kind, namespace, name string, spec map[string]any, owners ...metav1.OwnerReference,
) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetGroupVersionKind(schedulingVersion.WithKind(kind))
	o.SetNamespace(namespace)
	o.SetName(name)
	o.SetOwnerReferences(owners)
	return o
}

// k8s.io/api has the first field from v0.37 on, and the second from v0.36 on.
var (
	_, hasScheduling                    = reflect.TypeFor[batchv1.JobSpec]().FieldByName("Scheduling")
	schedulingGroup, hasSchedulingGroup = reflect.TypeFor[corev1.PodSpec]().FieldByName("SchedulingGroup")
)

// Known reports whether the k8s.io/api of this build has spec.scheduling of jobs and
// spec.schedulingGroup of pods. Without them no pod can be in a group.
func Known() bool { return hasScheduling && hasSchedulingGroup }

// NamesGroup reports whether a template names a group for its pods.
func NamesGroup(template *corev1.PodTemplateSpec) bool {
	return hasSchedulingGroup && !reflect.ValueOf(&template.Spec).Elem().FieldByIndex(schedulingGroup.Index).IsZero()
}

// Join puts a pod into a group. The group does not become an owner of the pod: Kubernetes writes
// such a reference into the template, but pods take no owners from their template.
func Join(pod *corev1.Pod, group jobgroup.Ref) {
	if !hasSchedulingGroup {
		return
	}
	data, _ := json.Marshal(map[string]string{"podGroupName": group.Name})
	_ = json.Unmarshal(data, reflect.ValueOf(&pod.Spec).Elem().FieldByIndex(schedulingGroup.Index).Addr().Interface())
}
