package jobadmit_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/intact"
	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobadmit"
	"github.com/batchplan/batchplan/job/release"
)

var public = intact.Functions{
	Of:     []any{jobadmit.DropDisabled, jobadmit.ValidateUpdate, jobadmit.ValidateTemplateUpdate},
	Writes: map[string]int{"DropDisabled": 1},
}

// TestJI24_NothingIsShared: no function writes to its arguments.
func TestJI24_NothingIsShared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := jobgen.Snapshots().Draw(t, "snapshot")
		next := jobgen.Specs().Draw(t, "next")
		raw := next // without its defaults
		raw.PodFailurePolicy = &job.PodFailurePolicy{Rules: []job.PodFailurePolicyRule{
			{Action: job.IgnoreFailure, OnPodConditions: []job.PodCondition{{Type: "a"}, {Type: "b", Status: job.ConditionFalse}}},
		}}
		var pool intact.Pool
		pool.Add(s.Job, next, raw, []byte(`{"spec":{"nodeSelector":{"a":"b"}}}`),
			rapid.SampledFrom(release.All()).Draw(t, "release"))
		public.Check(t, &pool)
	})
	public.AllCalled(t)
}
