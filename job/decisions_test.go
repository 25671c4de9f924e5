package job_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/internal/golden"
	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/release"
)

// openPlan is a plan without the internal part of its JSON.
type openPlan job.Plan

// decided holds the decisions of a round. The wording of the notes is not a decision.
type decided struct {
	Plan    openPlan
	Status  job.Status
	Events  []job.Event
	Requeue job.Requeue
	Metrics job.Metrics
}

// TestDecisions compares the decisions of 10,000 rounds with stored ones, so that they change only
// on purpose.
func TestDecisions(t *testing.T) {
	presets := []release.Release{release.V131(), release.V132(), release.V133(), release.V134(), release.V135(),
		release.V136(), release.V137()}
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
			end := plan.Conclude(drawOutcome(t, &plan, jobreason.ResultDone, jobreason.ResultDone,
				jobreason.ResultUnsuccessful))
			for i := range plan.Notes {
				plan.Notes[i].Message = ""
			}
			s.Memory = job.Memory{}
			round(s, decided{openPlan(plan), end.Status, end.Events, end.Requeue, end.Metrics})
			jobgen.Step(t, w, jobgen.AllFaults)
		}
	})
}

// TestDecisions_Beside is like TestDecisions, for snapshots in which one value was changed, numbers
// and times often by the smallest step.
func TestDecisions_Beside(t *testing.T) {
	golden.Beside(t, "testdata/beside.golden", 60, func(t *rapid.T) job.Snapshot {
		s := lived(t, 20, allFaults).Snapshot()
		if rapid.Bool().Draw(t, "options") {
			s.Options.PendingTimeout, s.Options.TerminatingTimeout = time.Minute, time.Minute
			s.Options.TTLSecondsAfterComplete, s.Options.TTLSecondsAfterFailed = ptr(int32(5)), ptr(int32(5))
			s.Options.MaxPodWrites, s.Options.MaxUncounted, s.Options.MaxIgnoredFailures = 2, 2, 2
		}
		return s
	}, func(s *job.Snapshot) any {
		found, err := job.Inspect(*s)
		rounds := []any{found, fmt.Sprint(err)}
		expired, at, err := job.Expire(&s.Job, s.Options, s.Now)
		rounds = append(rounds, expired, at, fmt.Sprint(err))

		next := *s
		for range 2 {
			plan, err := job.Reconcile(next)
			if err != nil {
				return append(rounds, err.Error())
			}
			end := plan.Conclude(allDone(&plan))
			for i := range plan.Notes {
				plan.Notes[i].Message = ""
			}
			rounds = append(rounds, decided{openPlan(plan), end.Status, end.Events, end.Requeue, end.Metrics})
			next.Job.Status, next.Memory = end.Status, end.Memory
		}
		return rounds
	})
}

// TestDecisions_OfOutcomes is like TestDecisions, for the consequences of each single result of a
// write.
func TestDecisions_OfOutcomes(t *testing.T) {
	type round struct {
		job.Outcome
		Results  []jobreason.Result // all existing results
		snapshot job.Snapshot
		plan     *job.Plan
	}

	golden.Beside(t, "testdata/outcomes.golden", 200, func(t *rapid.T) round {
		r := round{snapshot: lived(t, 20, allFaults).Snapshot()}
		for result := jobreason.ResultNotTried; result <= jobreason.ResultRefused; result++ {
			r.Results = append(r.Results, result)
		}
		r.plan = job.PlanOf(t, r.snapshot)
		r.Outcome = allDone(r.plan)
		return r
	}, func(r *round) any {
		end := r.plan.Conclude(r.Outcome)
		next := r.snapshot
		next.Job.Status, next.Memory = end.Status, end.Memory
		plan, err := job.Reconcile(next)
		return []any{end.Status, end.Events, end.Requeue, end.Metrics, end.Retry, end.Metrics.Action != "", openPlan(plan),
			err == nil}
	})
}

// allDone returns the outcome in which every write takes effect.
func allDone(plan *job.Plan) job.Outcome {
	done := job.Reply{Result: jobreason.ResultDone}
	o := job.Outcome{Writes: job.Writes{Claimed: done}, Recorded: done, Settled: done}
	for range plan.Groups {
		o.Grouped = append(o.Grouped, jobgroup.Effect{Result: jobreason.ResultDone})
	}
	for range plan.Delete {
		o.Deleted = append(o.Deleted, job.Effect{Result: jobreason.ResultDone})
	}
	for i := range plan.Create {
		name := fmt.Sprint("new-", i)
		o.Created = append(o.Created,
			job.Effect{Result: jobreason.ResultDone, Pod: job.PodRef{Name: name, UID: job.UID(name)}})
	}
	recording := plan.Record(o.Writes)
	for range recording.Untrack {
		o.Untracked = append(o.Untracked, done)
	}
	return o
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
		return *plan, drawOutcome(t, plan, jobreason.ResultDone, jobreason.ResultDone, jobreason.ResultGone,
			jobreason.ResultUnsuccessful)
	}
	golden.Stored(t, "testdata", "v0.1.0", draw, func(p *job.Plan, o job.Outcome) (job.Status, job.Memory) {
		end := p.Conclude(o)
		return end.Status, end.Memory
	})
}

// TestStored_Snapshots: every later version reads the snapshots and options of released ones.
func TestStored_Snapshots(t *testing.T) {
	golden.StoredSnapshots(t, "testdata", "v0.1.0", func(t *rapid.T) job.Snapshot {
		s := lived(t, 20, allFaults).Snapshot()
		s.Consistent = rapid.Bool().Draw(t, "consistent")
		if rapid.Bool().Draw(t, "options") {
			s.Options = storedOptions(t)
			s.Job.Spec.TTLSecondsAfterFinished, s.Job.Spec.ManagedBy = ptr(int32(9)), ptr("example.com/own")
			s.Job.Spec.Selector = &job.Selector{
				MatchLabels:      map[string]string{"job": "j"},
				MatchExpressions: []job.SelectorRequirement{{Key: "tier", Operator: job.LabelIn, Values: []string{"a"}}},
			}
		}
		return s
	})
}

// storedOptions draws all options, even combinations in which one option makes another ineffective.
func storedOptions(t *rapid.T) job.Options {
	number := rapid.Int32Range(0, 3)
	o := job.Options{
		Backoff: backoff.Policy{
			Base: time.Duration(number.Draw(t, "base")), Factor: int(number.Draw(t, "factor")), Max: time.Hour,
		},
		PendingTimeout:       time.Duration(number.Draw(t, "pending")) * time.Minute,
		TerminatingTimeout:   time.Duration(number.Draw(t, "terminating")) * time.Minute,
		SuccessBeatsDeadline: rapid.Bool().Draw(t, "SuccessBeatsDeadline"),
		MaxIgnoredFailures:   number.Draw(t, "ignored"),
		MaxPodWrites:         number.Draw(t, "writes"),
		MaxUncounted:         number.Draw(t, "uncounted"),
		NoSuccessCriteriaMet: rapid.Bool().Draw(t, "NoSuccessCriteriaMet"),
		ControllerName:       rapid.SampledFrom([]string{"", "example.com/own"}).Draw(t, "name"),
		Gangs:                rapid.Bool().Draw(t, "gangs"),
	}
	if rapid.Bool().Draw(t, "ttl") {
		o.TTLSecondsAfterComplete, o.TTLSecondsAfterFailed = ptr(number.Draw(t, "complete")), ptr(number.Draw(t, "failed"))
	}
	if rapid.Bool().Draw(t, "preset") {
		o.Quirks = job.Kubernetes(release.V131()).Quirks
		o.Without = release.GatesOf(release.PodIndexLabel, release.MutablePodResourcesForSuspendedJobs)
	}
	return o
}
