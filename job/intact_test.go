package job_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/intact"
	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/release"
)

var public = intact.Functions{
	Of: []any{
		job.Reconcile, job.Inspect, job.InferBackoff, job.Expire, job.ManagerOf, job.MayUntrack, job.OwnerOf,
		job.Default, job.Validate, job.DecodeJob, job.DecodePod,
		job.ParseIndexes, job.IndexAt, job.NoIndex, job.Kubernetes,
	},
	Writes: map[string]int{"Default": 0, "Pod.ReadAnnotations": 0},
	Shares: map[string]string{
		"Reconcile": "", "Plan.Record": "", "Recording.Settle": "*", "Settlement.Conclude": "*", "Plan.Conclude": "Outcome", // they share the status of the snapshot
	},
	Skip: []string{"Planner", "InputErrors"},
}

// TestJI24_NothingIsShared: no function writes to its arguments, and the caller may write to its
// results without changing anything else.
func TestJI24_NothingIsShared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawLook(t, lived(t, 20, allFaults))
		if lists := s.Job.Status.UncountedTerminatedPods; lists != nil {
			s.Job.Status.UncountedTerminatedPods = &job.UncountedTerminatedPods{ // with spare capacity, as in an informer's objects
				Succeeded: slices.Grow(lists.Succeeded, 1), Failed: slices.Grow(lists.Failed, 1),
			}
		}

		plan := job.PlanOf(t, s)
		o := drawOutcome(t, plan, jobreason.ResultDone, jobreason.ResultGone, jobreason.ResultUnsuccessful)
		recording := plan.Record(o.Writes)
		var pool intact.Pool
		pool.Add(s, *plan, o, recording, recording.Settle(o.Recorded, o.Untracked))
		pool.Add(job.Selector{MatchLabels: map[string]string{"a": "b"}}, map[string]string{"a": "b"})

		next := jobgen.Specs().Draw(t, "next")
		raw := next // without its defaults
		raw.PodFailurePolicy = &job.PodFailurePolicy{Rules: []job.PodFailurePolicyRule{
			{Action: job.IgnoreFailure, OnPodConditions: []job.PodCondition{{Type: "a"}, {Type: "b", Status: job.ConditionFalse}}},
		}}
		pool.Add(next, raw, rapid.SampledFrom(release.All()).Draw(t, "release"))
		public.Check(t, &pool)
	})
	public.AllCalled(t)
}
