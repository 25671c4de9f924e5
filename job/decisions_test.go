package job_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/golden"
	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/release"
)

// openPlan is a plan without what is internal in its JSON.
type openPlan job.Plan

// decided is what a round decides. How the notes word it is not a decision.
type decided struct {
	Plan    openPlan
	Status  job.Status
	Events  []job.Event
	Requeue job.Requeue
	Metrics job.Metrics
}

// TestDecisions: what 10,000 rounds decide changes only on purpose.
func TestDecisions(t *testing.T) {
	presets := []release.Release{release.V131(), release.V132(), release.V133(), release.V134(), release.V135(), release.V136(), release.V137()}
	golden.Decisions(t, "testdata/decisions.golden", func(t *rapid.T, round func(snapshot, decided any)) {
		w := drawWorld(t)
		w.Stale = rapid.Bool().Draw(t, "stale")
		if gangs := w.Options.Gangs; rapid.Bool().Draw(t, "preset") {
			w.Options = job.Kubernetes(rapid.SampledFrom(presets).Draw(t, "release"))
			w.Options.Gangs = gangs
		}
		w.Options.MaxPodWrites = rapid.SampledFrom([]int32{0, 0, 1, 3}).Draw(t, "MaxPodWrites")
		w.Options.MaxUncounted = rapid.SampledFrom([]int32{0, 0, 1, 3}).Draw(t, "MaxUncounted")

		for range golden.LifeRounds {
			s := w.Snapshot()
			plan, err := job.Reconcile(s)
			must.OK(t, err)
			end := plan.Conclude(drawOutcome(t, &plan, jobreason.ResultDone, jobreason.ResultDone, jobreason.ResultUnsuccessful))
			for i := range plan.Notes {
				plan.Notes[i].Message = ""
			}
			s.Memory = job.Memory{}
			round(s, decided{openPlan(plan), end.Status, end.Events, end.Requeue, end.Metrics})
			jobgen.Step(t, w, jobgen.AllFaults)
		}
	})
}

// TestStored_Released: every later version reads the plans and memories of released ones.
func TestStored_Released(t *testing.T) {
	draw := func(t *rapid.T) (job.Plan, job.Outcome) {
		s := lived(t, 20, allFaults).Snapshot()
		if rapid.IntRange(0, 3).Draw(t, "crowd") == 0 {
			drawCrowd(t, &s)
		}
		s.Consistent, s.Memory.Written = rapid.Bool().Draw(t, "consistent"), rapid.Int64Range(0, 9).Draw(t, "written")
		if rapid.Bool().Draw(t, "preset") {
			s.Options.Quirks = job.Kubernetes(release.V131()).Quirks
			s.Options.Without = release.GatesOf(release.PodIndexLabel, release.MutablePodResourcesForSuspendedJobs)
		}
		s.Options.NoSuccessCriteriaMet = rapid.Bool().Draw(t, "NoSuccessCriteriaMet")
		s.Options.MaxPodWrites = rapid.SampledFrom([]int32{0, 1}).Draw(t, "MaxPodWrites")
		s.Options.MaxUncounted = rapid.SampledFrom([]int32{0, 1, 2}).Draw(t, "MaxUncounted")
		plan := job.PlanOf(t, s)
		return *plan, drawOutcome(t, plan, jobreason.ResultDone, jobreason.ResultDone, jobreason.ResultGone, jobreason.ResultUnsuccessful)
	}
	golden.Stored(t, "testdata", "v0.1.0", draw, func(p *job.Plan, o job.Outcome) (job.Status, job.Memory) {
		end := p.Conclude(o)
		return end.Status, end.Memory
	})
}
