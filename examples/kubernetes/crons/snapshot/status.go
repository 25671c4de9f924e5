package main

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// report writes a condition that shows whether runs start.
func report(p *SnapshotPolicy, r *controller.CronReport) {
	running := metav1.Condition{Type: "Running", Status: metav1.ConditionFalse, ObservedGeneration: p.Generation}
	switch {
	case r.Err != nil:
		running.Reason, running.Message = "Failed", r.Err.Error()
	case r.Schedule.Problem != 0:
		running.Reason, running.Message = r.Schedule.Problem.String(), r.Schedule.Message
	case p.Spec.Suspend:
		running.Reason = "Suspended"
	default:
		running.Status, running.Reason = metav1.ConditionTrue, "Scheduled"
	}
	meta.SetStatusCondition(&p.Status.Conditions, running)
}

// announce adds an event about a suspended policy, once after each edit.
func announce(o controller.Object, _ controller.CronJobRound, events []job.Event) []job.Event {
	p := o.(*SnapshotPolicy)
	running := meta.FindStatusCondition(p.Status.Conditions, "Running")
	isTold := running != nil && running.ObservedGeneration == p.Generation
	if !p.Spec.Suspend || isTold {
		return events
	}
	return append(events, job.Event{Type: job.EventNormal, Reason: "Suspended", Message: "no Snapshot is started"})
}
