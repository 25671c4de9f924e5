package job

import (
	"fmt"

	"github.com/batchplan/batchplan/internal/problems"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// gangSize returns the number of pods that must start together, 0 for the policy basic. A policy
// with both basic and gang, or with neither, counts as basic, as in Kubernetes.
func (s *Spec) gangSize() int32 {
	if s.Scheduling == nil || s.Scheduling.SchedulingPolicy == nil {
		return 0
	}

	policy := s.Scheduling.SchedulingPolicy
	if policy.Basic != nil || policy.Gang == nil {
		return 0
	}

	size := policy.Gang.MinCount
	if size == nil {
		size = s.Parallelism
	}
	return max(value.Of(size), 1)
}

// checkScheduling checks the fields that the planner uses (J46). The server checks constraints and
// claims.
func checkScheduling(s *Spec) (found problems.List) {
	scheduling := s.Scheduling
	if scheduling == nil {
		return nil
	}

	if policy := scheduling.SchedulingPolicy; policy != nil {
		found.AddIn("scheduling.schedulingPolicy", checkPolicy(policy, value.Of(s.Parallelism)))
	}

	mode := scheduling.DisruptionMode
	if mode == nil {
		return found
	}
	if (mode.Single != nil) == (mode.All != nil) {
		found.Add("scheduling.disruptionMode", nil, "must have exactly one of single and all")
	}
	if mode.All != nil && s.gangSize() == 0 {
		found.Add("scheduling.disruptionMode", "all", "needs the schedulingPolicy gang")
	}
	return found
}

func checkPolicy(policy *jobgroup.SchedulingPolicy, parallelism int32) (found problems.List) {
	if (policy.Basic != nil) == (policy.Gang != nil) {
		found.Add("", nil, "must have exactly one of basic and gang")
	}
	if policy.Gang == nil || policy.Gang.MinCount == nil {
		return found
	}

	switch n := *policy.Gang.MinCount; {
	case n < 1:
		found.Add(".gang.minCount", n, "must be at least 1")
	case n > parallelism:
		found.Add(".gang.minCount", n, fmt.Sprintf("must be at most parallelism, %d", parallelism))
	}
	return found
}
