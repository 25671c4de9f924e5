package jobadmit

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/batchplan/batchplan/internal/problems"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// ValidateUpdate reports what an API server of a release refuses when the spec of a job changes.
// old is the stored job, with its status, and next is the requested spec. Both must have the
// defaults of [job.Default]. next is also checked as [job.Validate] does. The error joins an
// [*job.InputError] for each problem.
//
// These fields may change: parallelism, backoffLimit, maxFailedIndexes, activeDeadlineSeconds,
// ttlSecondsAfterFinished, suspend and podReplacementPolicy. completions of an Indexed job may
// change to the value of parallelism. Of spec.scheduling, which exists from 1.37 on, only
// schedulingPolicy.gang.minCount may change, with the gate WorkloadWithJob (J46). The part of the
// template that a [job.Spec] has must not change; [ValidateTemplateUpdate] checks the whole
// template.
//
// Fields whose gates are off are dropped first, as [DropDisabled] does. Without
// JobPodReplacementPolicy, a server sets no default for podReplacementPolicy.
func ValidateUpdate(old *job.Job, next job.Spec, r release.Release) error {
	DropDisabled(&old.Spec, &next, r)

	if !r.Has(release.JobPodReplacementPolicy) && next.PodReplacementPolicy == "" {
		filled := job.Spec{PodFailurePolicy: next.PodFailurePolicy}
		job.Default(&filled)
		next.PodReplacementPolicy = filled.PodReplacementPolicy
	}

	found := checkUpdate(&old.Spec, &next)
	if !r.IsBefore(release.V137()) {
		found = append(found, checkSchedulingUpdate(old.Spec.Scheduling, next.Scheduling, r)...)
	}
	return problems.Concat(job.Validate(next), problems.Join[job.InputError]("spec.", found))
}

// checkUpdate finds the fields that must not change.
func checkUpdate(old, next *job.Spec) (found problems.List) {
	kept := func(field string, old, next any) {
		if was, is := plainJSON(old), plainJSON(next); !bytes.Equal(was, is) {
			found.Add(field, value.Short(string(is)), "must not change from "+value.Short(string(was)))
		}
	}

	if next.CompletionMode != job.Indexed {
		kept("completions", old.Completions, next.Completions)
	} else if n := next.Completions; n != nil && next.Parallelism != nil {
		if !value.Equal(old.Completions, n) && *n != *next.Parallelism {
			found.Add("completions", *n,
				fmt.Sprintf("may only change to the value of parallelism, %d", *next.Parallelism))
		}
	}

	kept("completionMode", old.CompletionMode, next.CompletionMode)
	kept("selector", old.Selector, next.Selector)
	kept("template", old.Template, next.Template)
	kept("podFailurePolicy", old.PodFailurePolicy, next.PodFailurePolicy)
	kept("backoffLimitPerIndex", old.BackoffLimitPerIndex, next.BackoffLimitPerIndex)
	kept("managedBy", old.ManagedBy, next.ManagedBy)
	kept("successPolicy", old.SuccessPolicy, next.SuccessPolicy)
	return found
}

// plainJSON returns a value as JSON, with sorted keys and without empty parts.
func plainJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		return nil // unreachable: there are only plain values
	}

	var tree any
	_ = json.Unmarshal(data, &tree) // data is valid JSON
	if tree != nil && pruned(tree) == nil {
		return []byte("{}") // set, but empty
	}
	data, _ = json.Marshal(pruned(tree))
	return data
}
