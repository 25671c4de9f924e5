package jobadmit

import (
	"slices"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// DropDisabled clears the fields of next that an API server of the release drops because their
// gates are off, and returns their names. old is the stored spec, or nil when the job is created:
// an update keeps the fields that the stored spec has. DropDisabled changes next itself, but does
// not write through its pointers.
func DropDisabled(old, next *job.Spec, r release.Release) (dropped []string) {
	drop := func(gate release.Gate, field string, isSet, wasSet bool, clear func()) {
		if !r.Has(gate) && isSet && !wasSet {
			clear()
			dropped = append(dropped, field)
		}
	}

	creates := old == nil
	if creates {
		old = new(job.Spec)
		drop(release.JobManagedBy, "managedBy", next.ManagedBy != nil, false, func() { next.ManagedBy = nil })
	}

	drop(release.JobSuccessPolicy, "successPolicy",
		next.SuccessPolicy != nil, old.SuccessPolicy != nil,
		func() { next.SuccessPolicy = nil })
	drop(release.JobBackoffLimitPerIndex, "backoffLimitPerIndex",
		next.BackoffLimitPerIndex != nil, old.BackoffLimitPerIndex != nil,
		func() { next.BackoffLimitPerIndex = nil })
	drop(release.JobBackoffLimitPerIndex, "maxFailedIndexes",
		next.MaxFailedIndexes != nil, old.MaxFailedIndexes != nil,
		func() { next.MaxFailedIndexes = nil })
	drop(release.JobBackoffLimitPerIndex, "podFailurePolicy.rules with action FailIndex",
		creates && failsIndexes(next), false,
		func() { next.PodFailurePolicy = withoutFailIndex(next.PodFailurePolicy) })
	drop(release.WorkloadWithJob, "scheduling",
		next.Scheduling != nil, old.Scheduling != nil && !r.IsBefore(release.V137()),
		func() { next.Scheduling = nil })
	drop(release.JobPodReplacementPolicy, "podReplacementPolicy",
		next.PodReplacementPolicy != "", old.PodReplacementPolicy != "",
		func() { next.PodReplacementPolicy = "" })
	return dropped
}

func isFailIndex(r job.PodFailurePolicyRule) bool { return r.Action == job.FailIndex }

// failsIndexes reports whether a rule of the podFailurePolicy has the action FailIndex.
func failsIndexes(s *job.Spec) bool {
	return s.PodFailurePolicy != nil && slices.ContainsFunc(s.PodFailurePolicy.Rules, isFailIndex)
}

// withoutFailIndex returns the policy without the rules that have the action FailIndex.
func withoutFailIndex(p *job.PodFailurePolicy) *job.PodFailurePolicy {
	return &job.PodFailurePolicy{Rules: slices.DeleteFunc(slices.Clone(p.Rules), isFailIndex)}
}
