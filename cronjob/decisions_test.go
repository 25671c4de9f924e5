package cronjob_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/cronjobgen"
	"github.com/batchplan/batchplan/internal/golden"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// openPlan is a plan whose JSON lacks the internal part.
type openPlan cronjob.Plan

// decided holds the decisions of a round. The wording of notes is not a decision.
type decided struct {
	Plan      openPlan
	Status    cronjob.Status
	Events    []job.Event
	Metrics   cronjob.Metrics
	Triggered []string
	Backfills []cronjob.Backfill
	Requeue   cronjob.Requeue
	Unstarted []cronjob.Unstarted
}

// TestDecisions compares the decisions of 10,000 rounds with the stored ones, so that none changes
// unnoticed.
func TestDecisions(t *testing.T) {
	presets := []release.Release{release.V131(), release.V136(), release.V137()}
	golden.Decisions(t, "testdata/decisions.golden", func(t *rapid.T, round func(snapshot, decided any)) {
		w := world.NewCronJob(cronjob.CronJob{
			Namespace: "ns", Name: "c", UID: "cronjob-a", CreationTimestamp: world.Start, Spec: cronjobgen.Specs().Draw(t, "spec"),
		}, cronjobgen.Options().Draw(t, "options"))
		if rapid.Bool().Draw(t, "late") {
			late := func(from, to int) int { return rapid.IntRange(from, to).Draw(t, "version") }
			w.Lag = &world.Lag{Most: 10 * time.Second, Draw: late}
		}
		if rapid.Bool().Draw(t, "preset") {
			w.Options = cronjob.Kubernetes(rapid.SampledFrom(presets).Draw(t, "release"))
		}

		for range golden.LifeRounds {
			s := w.Snapshot()
			plan, err := cronjob.Reconcile(s)
			must.OK(t, err)
			end := plan.Conclude(done(&plan))
			for i := range plan.Notes {
				plan.Notes[i].Message = ""
			}
			s.Memory, s.Schedule = cronjob.Memory{}, cronjob.Compiled{}
			round(s, decided{
				openPlan(plan), end.Status, end.Events, end.Metrics, end.Triggered, end.Backfills, end.Requeue, end.Unstarted,
			})
			cronjobgen.Step(t, w, cronjobgen.AllFaults)
		}
	})
}

// TestDecisions_Beside compares decisions with the stored ones, for snapshots in which one value
// was changed, numbers and times often by the smallest step.
func TestDecisions_Beside(t *testing.T) {
	golden.Beside(t, "testdata/beside.golden", 60, func(t *rapid.T) cronjob.Snapshot {
		w := cronjobgen.Lives(rapid.Bool().Draw(t, "late")).Draw(t, "life")
		for range rapid.IntRange(0, 2).Draw(t, "requests") {
			cronjobgen.Request(t, w)
		}
		return w.Snapshot()
	}, func(s *cronjob.Snapshot) any {
		var rounds []any
		next := *s
		for range 2 {
			plan, err := cronjob.Reconcile(next)
			if err != nil {
				return append(rounds, err.Error())
			}

			end := plan.Conclude(done(&plan))
			for i := range plan.Notes {
				plan.Notes[i].Message = ""
			}
			rounds = append(rounds, decided{
				openPlan(plan), end.Status, end.Events, end.Metrics, end.Triggered, end.Backfills, end.Requeue, end.Unstarted,
			})
			next.CronJob.Status, next.Memory = end.Status, end.Memory
		}
		return rounds
	})
}

// TestDecisions_OfOutcomes changes one result of an outcome at a time, and compares the conclusions
// with the stored ones.
func TestDecisions_OfOutcomes(t *testing.T) {
	type round struct {
		cronjob.Outcome
		Results  []cronjobreason.Result // all possible results
		snapshot cronjob.Snapshot
		plan     cronjob.Plan
	}

	golden.Beside(t, "testdata/outcomes.golden", 200, func(t *rapid.T) round {
		w := cronjobgen.Lives(rapid.Bool().Draw(t, "late")).Draw(t, "life")
		for range rapid.IntRange(0, 2).Draw(t, "requests") {
			cronjobgen.Request(t, w)
		}

		r := round{snapshot: w.Snapshot()}
		for result := cronjobreason.ResultNotTried; result <= cronjobreason.ResultNameTaken; result++ {
			r.Results = append(r.Results, result)
		}
		r.plan = reconcile(t, r.snapshot)
		r.Outcome = done(&r.plan)
		return r
	}, func(r *round) any {
		end := r.plan.Conclude(r.Outcome)
		next := r.snapshot
		next.CronJob.Status, next.Memory = end.Status, end.Memory
		plan, err := cronjob.Reconcile(next)
		return []any{
			end.Status, end.Events, end.Metrics, end.Triggered, end.Backfills, end.Requeue, end.Unstarted, end.Retry, openPlan(plan), err == nil,
		}
	})
}

// TestStored_Released checks that this version can read the plans and memories that released
// versions have stored.
func TestStored_Released(t *testing.T) {
	draw := func(t *rapid.T) (cronjob.Plan, cronjob.Outcome) {
		w := cronjobgen.Lives(rapid.Bool().Draw(t, "late")).Draw(t, "life")
		for range rapid.IntRange(0, 2).Draw(t, "requests") {
			cronjobgen.Request(t, w)
		}

		s := w.Snapshot()
		s.Options, s.Consistent = drawOptions(t), rapid.Bool().Draw(t, "consistent")
		if rapid.Bool().Draw(t, "preset") {
			s.Options.Quirks = cronjob.Kubernetes(release.V131()).Quirks
		}

		plan := reconcile(t, s)
		o := done(&plan)
		results := []cronjobreason.Result{
			cronjobreason.ResultDone, cronjobreason.ResultGone, cronjobreason.ResultUnsuccessful, cronjobreason.ResultAlreadyExists, cronjobreason.ResultNameTaken,
		}

		for i := range o.Created {
			o.Created[i].Result = rapid.SampledFrom(results).Draw(t, "created")
		}
		for i := range o.Verified {
			o.Verified[i] = cronjob.Reply{Result: rapid.SampledFrom(results[:3]).Draw(t, "verified")}
		}
		o.Settled = cronjob.Reply{Result: rapid.SampledFrom(results[:3]).Draw(t, "settled")}
		return plan, o
	}

	golden.Stored(t, "testdata", "v0.1.0", draw, func(p *cronjob.Plan, o cronjob.Outcome) (cronjob.Status, cronjob.Memory) {
		end := p.Conclude(o)
		return end.Status, end.Memory
	})
}

// TestStored_Snapshots checks that this version can read the snapshots and options that released
// versions have stored.
func TestStored_Snapshots(t *testing.T) {
	golden.StoredSnapshots(t, "testdata", "v0.1.0", func(t *rapid.T) cronjob.Snapshot {
		w := cronjobgen.Lives(rapid.Bool().Draw(t, "late")).Draw(t, "life")
		for range rapid.IntRange(0, 2).Draw(t, "requests") {
			cronjobgen.Request(t, w)
		}
		s := w.Snapshot()
		s.Consistent = rapid.Bool().Draw(t, "consistent")
		if rapid.Bool().Draw(t, "options") {
			s.Options = drawOptions(t)
			s.Options.Punctual, s.Options.Marks.UTC = rapid.Bool().Draw(t, "punctual"), true
			s.CronJob.SpecChanged, s.CronJob.Version = s.Now, 7
			for i := range s.Children {
				s.Children[i].Foreign, s.Children[i].Misnamed = i == 1, i == 2
			}
		}
		if rapid.IntRange(0, 9).Draw(t, "schedule") == 0 {
			s.CronJob.Spec.Schedule = "no schedule"
			s.Schedule = cronjob.Compile(&s.CronJob)
		}
		if rapid.Bool().Draw(t, "preset") {
			s.Options.Quirks = cronjob.Kubernetes(release.V131()).Quirks
			s.Options.Without = release.GatesOf(release.CronJobsScheduledAnnotation)
		}
		return s
	})
}
