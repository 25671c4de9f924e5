package main

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	batchv1 "k8s.io/api/batch/v1"
)

var group = schema.GroupVersion{Group: "example.com", Version: "v1"}

// Render is the resource of crd.yaml. It has the status of a job.
type Render struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              RenderSpec        `json:"spec"`
	Status            batchv1.JobStatus `json:"status,omitzero"`
}

// RenderSpec describes what to render: one pod for each frame.
type RenderSpec struct {
	Frames                  int32                  `json:"frames"`
	TTLSecondsAfterFinished *int32                 `json:"ttlSecondsAfterFinished,omitempty"`
	Template                corev1.PodTemplateSpec `json:"template"`
}

// RenderList is a list of Renders, as clients read it.
type RenderList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Render `json:"items"`
}

// DeepCopyObject copies what clients and caches share.
func (r *Render) DeepCopyObject() runtime.Object {
	out := *r
	r.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if r.Spec.TTLSecondsAfterFinished != nil {
		seconds := *r.Spec.TTLSecondsAfterFinished
		out.Spec.TTLSecondsAfterFinished = &seconds
	}
	r.Spec.Template.DeepCopyInto(&out.Spec.Template)
	r.Status.DeepCopyInto(&out.Status)
	return &out
}

// DeepCopyObject copies the list with its items.
func (l *RenderList) DeepCopyObject() runtime.Object {
	out := &RenderList{TypeMeta: l.TypeMeta}
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*Render))
	}
	return out
}

func addToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(group, &Render{}, &RenderList{})
	metav1.AddToGroupVersion(s, group)
	return nil
}
