package main

import "github.com/batchplan/batchplan/x/kubernetes/controller"

// report sets the phase of a Plan.
func report(p *Plan, r *controller.CronReport) {
	switch p.Status.Phase = "Active"; {
	case r.Plan == nil, r.Schedule.Problem != 0:
		p.Status.Phase = "Failed"
	case p.Spec.Suspend:
		p.Status.Phase = "Suspended"
	}
}
