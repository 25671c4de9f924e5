package jobstatus_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/intact"
	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobstatus"
	"github.com/batchplan/batchplan/job/release"
)

var public = intact.Functions{
	Of: []any{
		jobstatus.CheckServed, jobstatus.CheckTransition,
		jobstatus.Announce, jobstatus.Finish, jobstatus.Suspend, jobstatus.Resume,
		jobstatus.Aggregate, jobstatus.AggregateFunc, jobstatus.JoinFailures,
	},
	Shares: map[string]string{"Announce": "*", "Finish": "*", "Suspend": "*", "Resume": "*", "Aggregate": "*", "AggregateFunc": "*"}, // for the fields that do not change
}

// TestJI24_NothingIsShared: no function writes to its arguments.
func TestJI24_NothingIsShared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := jobgen.Snapshots().Draw(t, "snapshot")
		other := jobgen.Statuses().Draw(t, "status")
		end := rapid.SampledFrom([]job.ConditionType{job.ConditionFailureTarget,
			job.ConditionSuccessCriteriaMet}).Draw(t, "end")
		var pool intact.Pool
		pool.Add(s.Job, s.Now, other, job.Verdict{Type: end}, jobstatus.Words(jobstatus.JoinFailures),
			[]jobstatus.Part{{Status: s.Job.Status}, {Status: other}})
		pool.Add(rapid.SampledFrom(release.All()).Draw(t, "release"))
		public.Check(t, &pool)
	})
	public.AllCalled(t)
}
