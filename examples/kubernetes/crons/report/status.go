package main

import (
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// check refuses a template from which no Report can be made, before a run is due.
func check(s *ReportSchedule) error {
	if s.Spec.Template.Query == "" {
		return errors.New("spec.template.query: is required")
	}
	return nil
}

// report writes into the status whether runs start, and when.
func report(s *ReportSchedule, r *controller.CronReport) {
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, ObservedGeneration: s.Generation}
	switch {
	case r.Err != nil:
		ready.Reason, ready.Message = "Failed", r.Err.Error()
	case r.Schedule.Problem != 0:
		ready.Reason, ready.Message = r.Schedule.Problem.String(), r.Schedule.Message
	case s.Spec.Suspend:
		ready.Reason = "Suspended"
	default:
		ready.Status, ready.Reason = metav1.ConditionTrue, "Scheduled"
	}
	meta.SetStatusCondition(&s.Status.Conditions, ready)
	s.Status.NextRun = metav1.Time{}
	if r.Plan != nil {
		s.Status.NextRun = metav1.NewTime(r.Plan.NextRun)
	}
}
