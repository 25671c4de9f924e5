package main

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/examples/kubernetes/crons/internal/kinds"
)

var scheme = runtime.NewScheme()

func init() {
	kinds.Add[SnapshotPolicy](scheme, "SnapshotPolicy")
	kinds.Add[Snapshot](scheme, "Snapshot")
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
		LastSnapshot metav1.Time        `json:"lastSnapshot,omitzero"`
		Conditions   []metav1.Condition `json:"conditions,omitempty"`
	} `json:"status,omitzero"`
}

// Snapshot is a child of a SnapshotPolicy. Its phase is empty, then Created, Running, and at last
// Ready or Error.
type Snapshot struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Volume            string `json:"volume"`
	Status            struct {
		Phase string      `json:"phase,omitempty"`
		End   metav1.Time `json:"end,omitzero"`
	} `json:"status,omitzero"`
}

// ends holds the phases of a Snapshot that has ended.
var ends = map[string]cronjob.Ending{"Ready": cronjob.Complete, "Error": cronjob.Failed}

// spec returns the spec to plan.
func (o *SnapshotPolicy) spec() cronjob.Spec {
	return cronjob.Spec{
		Schedule:                o.Spec.Schedule,
		Suspend:                 &o.Spec.Suspend,
		ConcurrencyPolicy:       o.Spec.Overlap,
		StartingDeadlineSeconds: o.Spec.DeadlineSeconds,
	}
}

func (o *SnapshotPolicy) DeepCopyObject() runtime.Object { // controller-gen writes the real ones
	c := *o
	o.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	c.Status.Conditions = slices.Clone(o.Status.Conditions)
	return &c
}

func (o *Snapshot) DeepCopyObject() runtime.Object { // controller-gen writes the real ones
	c := *o
	o.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}
