package jobgen

import (
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/job"
)

func ptr[T any](v T) *T { return &v }

// maybe draws a pointer, nil half of the time.
func maybe[T any](t *rapid.T, label string, g *rapid.Generator[T]) *T {
	if rapid.Bool().Draw(t, label+"?") {
		return ptr(g.Draw(t, label))
	}
	return nil
}

// Specs generates specs that [job.Validate] accepts, with their defaults, of jobs with few
// pods. Only what decides something varies.
func Specs() *rapid.Generator[job.Spec] { return rapid.Custom(drawSpec) }

func drawSpec(t *rapid.T) job.Spec {
	s := job.Spec{
		Parallelism:           ptr(rapid.Int32Range(0, 4).Draw(t, "parallelism")),
		Completions:           maybe(t, "completions", rapid.Int32Range(0, 5)),
		BackoffLimit:          maybe(t, "backoffLimit", rapid.Int32Range(0, 3)),
		ActiveDeadlineSeconds: maybe(t, "activeDeadlineSeconds", rapid.SampledFrom([]int64{0, 5, 60, 1 << 62})),
		Suspend:               ptr(rapid.IntRange(0, 7).Draw(t, "suspend") == 7),
		Template: job.Template{
			RestartPolicy: rapid.SampledFrom([]job.RestartPolicy{job.RestartNever, job.RestartOnFailure}).Draw(t, "restartPolicy"),
			Containers:    []string{"main"},
		},
	}
	if rapid.Bool().Draw(t, "indexed") {
		drawIndexed(t, &s)
	}
	if s.Template.RestartPolicy == job.RestartNever && rapid.IntRange(0, 2).Draw(t, "failure policy") == 2 {
		s.PodFailurePolicy = drawFailurePolicy(t, s.BackoffLimitPerIndex != nil)
	}
	if s.PodFailurePolicy == nil && rapid.Bool().Draw(t, "replace failed") {
		s.PodReplacementPolicy = job.ReplaceFailed
	}
	job.Default(&s)
	if err := job.Validate(s); err != nil {
		t.Fatalf("the generator made an invalid spec: %v", err)
	}
	return s
}

func drawIndexed(t *rapid.T, s *job.Spec) {
	s.CompletionMode = job.Indexed
	if s.Completions == nil {
		s.Completions = ptr[int32](3)
	}
	if rapid.Bool().Draw(t, "per index") {
		s.BackoffLimitPerIndex = ptr(rapid.Int32Range(0, 2).Draw(t, "backoffLimitPerIndex"))
		s.MaxFailedIndexes = maybe(t, "maxFailedIndexes", rapid.Int32Range(0, *s.Completions))
	}
	if n := *s.Completions; n > 0 && rapid.IntRange(0, 3).Draw(t, "success policy") == 3 {
		s.SuccessPolicy = &job.SuccessPolicy{Rules: []job.SuccessPolicyRule{
			{SucceededCount: ptr(rapid.Int32Range(1, n).Draw(t, "succeededCount"))},
			{SucceededIndexes: ptr("0")},
		}}
	}
}

// drawFailurePolicy draws a policy that tells exit code 42 and disruptions from other
// failures.
func drawFailurePolicy(t *rapid.T, perIndex bool) *job.PodFailurePolicy {
	actions := []job.FailureAction{job.FailJob, job.IgnoreFailure, job.CountFailure}
	if perIndex {
		actions = append(actions, job.FailIndex)
	}
	return &job.PodFailurePolicy{Rules: []job.PodFailurePolicyRule{
		{
			Action:      rapid.SampledFrom(actions).Draw(t, "action for 42"),
			OnExitCodes: &job.OnExitCodes{Operator: job.ExitCodeIn, Values: []int32{42}},
		},
		{
			Action:          rapid.SampledFrom(actions).Draw(t, "action for disruption"),
			OnPodConditions: []job.PodCondition{{Type: "DisruptionTarget"}},
		},
	}}
}
