package job_test

import (
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/jobstatus"
)

func init() { job.CheckTransition = jobstatus.CheckTransition }

func ptr[T any](v T) *T { return &v }

// maybe draws a pointer that is nil half of the time.
func maybe[T any](t *rapid.T, label string, g *rapid.Generator[T]) *T {
	if rapid.Bool().Draw(t, label+"?") {
		return ptr(g.Draw(t, label))
	}
	return nil
}

// The generators come from package jobtest.

func drawSpec(t *rapid.T) job.Spec { return jobgen.Specs().Draw(t, "spec") }

func drawWorld(t *rapid.T) *world.Job { return jobgen.DrawWorld(t) }

func drawOutcome(t *rapid.T, plan *job.Plan, from ...jobreason.Result) job.Outcome {
	return jobgen.DrawOutcome(t, plan, from...)
}

func drawFaults(t *rapid.T, w *world.Job, faults []world.Fault) { jobgen.DrawFaults(t, w, faults) }
func live(t *rapid.T, w *world.Job)                             { jobgen.Act(t, w) }
func meddle(t *rapid.T, w *world.Job)                           { jobgen.Meddle(t, w) }
func deliver(t *rapid.T, w *world.Job)                          { jobgen.Deliver(t, w) }
func kubelet(w *world.Job)                                      { jobgen.Kubelet(w) }

func unfinished(p *job.Pod) bool { return p.Phase < job.PodSucceeded }
