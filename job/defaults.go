package job

import (
	"cmp"
	"math"
	"slices"

	"github.com/batchplan/batchplan/internal/value"
)

// Default fills the fields that an API server would fill (J1). It changes the
// spec that it is given; pointers in it are replaced, never written through.
func Default(s *Spec) {
	if s.Completions == nil && s.Parallelism == nil {
		s.Completions, s.Parallelism = value.To[int32](1), value.To[int32](1)
	}
	if s.Parallelism == nil {
		s.Parallelism = value.To[int32](1)
	}

	if s.BackoffLimit == nil {
		s.BackoffLimit = value.To[int32](6)
		if s.BackoffLimitPerIndex != nil {
			s.BackoffLimit = value.To[int32](math.MaxInt32)
		}
	}

	if s.CompletionMode == "" {
		s.CompletionMode = NonIndexed
	}
	if s.Suspend == nil {
		s.Suspend = value.To(false)
	}

	if s.PodReplacementPolicy == "" {
		s.PodReplacementPolicy = ReplaceTerminatingOrFailed
		if s.PodFailurePolicy != nil {
			s.PodReplacementPolicy = ReplaceFailed
		}
	}

	s.PodFailurePolicy = fillStatuses(s.PodFailurePolicy)
}

// fillStatuses returns the policy with status True in each condition that has no status.
func fillStatuses(p *PodFailurePolicy) *PodFailurePolicy {
	isEmpty := func(c PodCondition) bool { return c.Status == "" }
	hasEmpty := func(r PodFailurePolicyRule) bool {
		return slices.ContainsFunc(r.OnPodConditions, isEmpty)
	}
	if p == nil || !slices.ContainsFunc(p.Rules, hasEmpty) {
		return p
	}

	rules := slices.Clone(p.Rules)
	for i := range rules {
		conditions := slices.Clone(rules[i].OnPodConditions)
		for j := range conditions {
			conditions[j].Status = cmp.Or(conditions[j].Status, ConditionTrue)
		}
		rules[i].OnPodConditions = conditions
	}
	return &PodFailurePolicy{Rules: rules}
}
