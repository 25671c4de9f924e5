package job

import (
	"math"
	"testing"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/google/go-cmp/cmp"
)

// looksFor returns a policy with a condition pattern for each of the statuses.
func looksFor(statuses ...ConditionStatus) *PodFailurePolicy {
	rule := PodFailurePolicyRule{Action: IgnoreFailure}
	for _, s := range statuses {
		rule.OnPodConditions = append(rule.OnPodConditions, PodCondition{Type: "DisruptionTarget", Status: s})
	}
	return &PodFailurePolicy{Rules: []PodFailurePolicyRule{rule}}
}

func TestJ1_Defaults(t *testing.T) {
	one, three := value.To[int32](1), value.To[int32](3)
	filled := func(change func(*Spec)) Spec {
		s := Spec{
			Parallelism:          one,
			Completions:          one,
			BackoffLimit:         value.To[int32](6),
			CompletionMode:       NonIndexed,
			Suspend:              value.To(false),
			PodReplacementPolicy: ReplaceTerminatingOrFailed,
		}
		if change != nil {
			change(&s)
		}
		return s
	}

	policy := &PodFailurePolicy{}
	all := Spec{
		Parallelism: three, Completions: three, BackoffLimit: three, CompletionMode: Indexed,
		Suspend: value.To(true), PodReplacementPolicy: ReplaceFailed, BackoffLimitPerIndex: three,
	}

	for _, test := range []struct {
		name string
		in   Spec
		want Spec
	}{
		{"an empty spec runs one pod once", Spec{}, filled(nil)},
		{"parallelism alone is a work queue", Spec{Parallelism: three},
			filled(func(s *Spec) { s.Parallelism, s.Completions = three, nil })},
		{"completions alone run one by one", Spec{Completions: three},
			filled(func(s *Spec) { s.Completions = three })},
		{"a limit for each index lifts the limit of the job", Spec{BackoffLimitPerIndex: one},
			filled(func(s *Spec) { s.BackoffLimitPerIndex, s.BackoffLimit = one, value.To[int32](math.MaxInt32) })},
		{"a failure policy waits until pods have failed", Spec{PodFailurePolicy: policy},
			filled(func(s *Spec) { s.PodFailurePolicy, s.PodReplacementPolicy = policy, ReplaceFailed })},
		{"a failure policy looks for conditions that are true", Spec{PodFailurePolicy: looksFor("", ConditionFalse)},
			filled(func(s *Spec) {
				s.PodFailurePolicy, s.PodReplacementPolicy = looksFor(ConditionTrue, ConditionFalse), ReplaceFailed
			})},
		{"what is set stays", all, all},
		{"zero is not unset", Spec{Parallelism: value.To[int32](0), Completions: value.To[int32](0), BackoffLimit: value.To[int32](0)},
			filled(func(s *Spec) {
				s.Parallelism, s.Completions, s.BackoffLimit = value.To[int32](0), value.To[int32](0),
					value.To[int32](0)
			})},
	} {
		got := test.in
		Default(&got)
		Same(t, test.name, test.want, got)

		again := got
		if Default(&again); !cmp.Equal(got, again) {
			t.Errorf("%s: a second time changes it:\n%s", test.name, cmp.Diff(got, again))
		}
	}
}
