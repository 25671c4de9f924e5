package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/batchplan/batchplan/cronjob"
)

var (
	group  = schema.GroupVersion{Group: "example.com", Version: "v1"}
	scheme = runtime.NewScheme()
)

func init() {
	scheme.AddKnownTypes(group, &SnapshotPolicy{}, &SnapshotPolicyList{}, &Snapshot{}, &SnapshotList{})
	metav1.AddToGroupVersion(scheme, group)
}

// SnapshotPolicy starts Snapshots of a volume.
type SnapshotPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Schedule        string                    `json:"schedule"`
		Suspend         bool                      `json:"suspend,omitempty"`
		Overlap         cronjob.ConcurrencyPolicy `json:"overlap,omitempty"`
		DeadlineSeconds *int64                    `json:"deadlineSeconds,omitempty"`
		Volume          string                    `json:"volume"`
	} `json:"spec"`
	Status struct {
		LastSnapshot metav1.Time `json:"lastSnapshot,omitzero"`
	} `json:"status,omitzero"`
}

// Snapshot is what is started. Its phase is empty, then Created, Running, and one of ends.
type Snapshot struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Volume            string `json:"volume"`
	Status            struct {
		Phase string      `json:"phase,omitempty"`
		End   metav1.Time `json:"end,omitzero"`
	} `json:"status,omitzero"`
}

// ends are the phases of a Snapshot that has ended.
var ends = map[string]cronjob.Ending{"Ready": cronjob.Complete, "Error": cronjob.Failed}

func (o *SnapshotPolicy) DeepCopyObject() runtime.Object { // controller-gen writes the real ones
	c := *o
	o.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

// SnapshotPolicyList is a list of them.
type SnapshotPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []SnapshotPolicy `json:"items"`
}

func (l *SnapshotPolicyList) DeepCopyObject() runtime.Object {
	c := &SnapshotPolicyList{TypeMeta: l.TypeMeta, ListMeta: l.ListMeta}
	for i := range l.Items {
		c.Items = append(c.Items, *l.Items[i].DeepCopyObject().(*SnapshotPolicy))
	}
	return c
}

func (o *Snapshot) DeepCopyObject() runtime.Object { // controller-gen writes the real ones
	c := *o
	o.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

// SnapshotList is a list of them.
type SnapshotList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Snapshot `json:"items"`
}

func (l *SnapshotList) DeepCopyObject() runtime.Object {
	c := &SnapshotList{TypeMeta: l.TypeMeta, ListMeta: l.ListMeta}
	for i := range l.Items {
		c.Items = append(c.Items, *l.Items[i].DeepCopyObject().(*Snapshot))
	}
	return c
}
