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
	kinds.Add[ReportSchedule](scheme, "ReportSchedule")
	kinds.Add[Report](scheme, "Report")
}

// ReportSchedule starts Reports.
type ReportSchedule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Schedule        string                    `json:"schedule"`
		TimeZone        *string                   `json:"timeZone,omitempty"`
		Suspend         bool                      `json:"suspend,omitempty"`
		Overlap         cronjob.ConcurrencyPolicy `json:"overlap,omitempty"`
		DeadlineSeconds *int64                    `json:"deadlineSeconds,omitempty"`
		KeepSucceeded   *int32                    `json:"keepSucceeded,omitempty"`
		KeepFailed      *int32                    `json:"keepFailed,omitempty"`
		Template        ReportSpec                `json:"template"`
	} `json:"spec"`
	Status struct {
		LastRun    metav1.Time        `json:"lastRun,omitzero"`
		NextRun    metav1.Time        `json:"nextRun,omitzero"`
		Conditions []metav1.Condition `json:"conditions,omitempty"`
	} `json:"status,omitzero"`
}

// Report is a child of a ReportSchedule.
type Report struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              ReportSpec `json:"spec"`
	Status            struct {
		State string      `json:"state,omitempty"`
		End   metav1.Time `json:"end,omitzero"`
	} `json:"status,omitzero"`
}

// ReportSpec is the template of Reports.
type ReportSpec struct {
	Query string `json:"query"`
}

// ends holds the states of a Report that has ended.
var ends = map[string]cronjob.Ending{"SUCCEEDED": cronjob.Complete, "FAILED": cronjob.Failed}

func (o *ReportSchedule) DeepCopyObject() runtime.Object { // controller-gen writes the real ones
	c := *o
	o.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	c.Status.Conditions = slices.Clone(o.Status.Conditions)
	return &c
}

func (o *Report) DeepCopyObject() runtime.Object { // controller-gen writes the real ones
	c := *o
	o.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}
