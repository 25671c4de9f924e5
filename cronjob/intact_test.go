package cronjob_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/cronjobgen"
	"github.com/batchplan/batchplan/internal/intact"
	"github.com/batchplan/batchplan/job"
)

var public = intact.Functions{
	Of: []any{
		cronjob.Reconcile, cronjob.Compile, cronjob.Validate, cronjob.ValidateUpdate, cronjob.Default,
		cronjob.ChildOf, cronjob.DecodeChild, cronjob.DecodeCronJob, cronjob.Kubernetes,
	},
	Writes: map[string]int{"Default": 0},
	Shares: map[string]string{ // results that share the status of the snapshot and its requests
		"Reconcile": "", "Plan.Settle": "", "Settlement.Conclude": "*", "Plan.Conclude": "Outcome",
	},
	Skip: []string{"Planner", "Plan.Basis", "Memory.Kept"},
}

// TestB3_NothingIsShared: no function writes to its arguments, and the caller owns the results:
// writing to them changes nothing else.
func TestB3_NothingIsShared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := cronjobgen.Lives(rapid.Bool().Draw(t, "late")).Draw(t, "life")
		for range rapid.IntRange(0, 3).Draw(t, "requests") {
			cronjobgen.Request(t, w)
		}

		s := w.Snapshot()
		if s.Options = drawOptions(t); rapid.Bool().Draw(t, "garbage") {
			s = drawGarbage(t)
		}

		s.CronJob.Spec.JobTemplate.Labels = map[string]string{"a": "b"}
		for i := range s.Backfills {
			b := &s.Backfills[i]
			for _, hours := range []time.Duration{20, 25, 30} { // enough that append leaves spare capacity
				b.Except = append(b.Except, b.After.Add(hours*time.Hour))
			}
		}

		var pool intact.Pool
		pool.Add(s, drawOutcome(t), job.Job{UID: "child"}, map[string]string{"a": "b"}, drawSpec(t))
		if plan, err := cronjob.Reconcile(s); err == nil {
			o := done(&plan)
			for i := range o.Created {
				o.Created[i].Result = rapid.SampledFrom([]cronjobreason.Result{cronjobreason.ResultDone, cronjobreason.ResultUnsuccessful}).Draw(t, "made")
			}
			for i := range o.Verified {
				o.Verified[i] = cronjob.Reply{Result: rapid.SampledFrom([]cronjobreason.Result{cronjobreason.ResultDone, cronjobreason.ResultGone}).Draw(t, "found")}
			}
			pool.Add(plan, o, plan.Settle(o.Writes))
		}

		public.Check(t, &pool)
	})
	public.AllCalled(t)
}
