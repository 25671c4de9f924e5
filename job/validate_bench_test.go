package job_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobstatus"
	"github.com/batchplan/batchplan/job/release"
)

// successRules returns a spec with n rules of one index each, and one rule of all indexes.
func successRules(n int) job.Spec {
	all, mode := int32(1<<31-1), job.Indexed
	spec := job.Spec{Completions: &all, CompletionMode: mode, SuccessPolicy: new(job.SuccessPolicy),
		Template: job.Template{RestartPolicy: job.RestartNever}}
	whole, one := "0-2147483646", "7"
	spec.SuccessPolicy.Rules = append(spec.SuccessPolicy.Rules, job.SuccessPolicyRule{SucceededIndexes: &whole})
	for range n {
		spec.SuccessPolicy.Rules = append(spec.SuccessPolicy.Rules, job.SuccessPolicyRule{SucceededIndexes: &one})
	}
	job.Default(&spec)
	return spec
}

// failureRules returns a spec with n rules and n containers. Each rule names one container.
func failureRules(n int) job.Spec {
	spec := job.Spec{PodFailurePolicy: new(job.PodFailurePolicy),
		Template: job.Template{RestartPolicy: job.RestartNever}}
	for i := range n {
		name := fmt.Sprint("c", i)
		spec.Template.Containers = append(spec.Template.Containers, name)
		spec.PodFailurePolicy.Rules = append(spec.PodFailurePolicy.Rules, job.PodFailurePolicyRule{
			Action:      job.CountFailure,
			OnExitCodes: &job.OnExitCodes{ContainerName: &name, Operator: job.ExitCodeIn, Values: []int32{1, 2, 3}},
		})
	}
	job.Default(&spec)
	return spec
}

// manyConditions returns a status with n conditions. Each type appears twice, so every second
// condition is a problem.
func manyConditions(n int) job.Status {
	var s job.Status
	for i := range n {
		s.Conditions = append(s.Conditions,
			job.Condition{Type: job.ConditionType(fmt.Sprint("T", i/2)), Status: job.ConditionTrue})
	}
	return s
}

// scattered returns a status of an Indexed job with n ranges of completed indexes.
func scattered(n int) job.Status {
	return job.Status{CompletedIndexes: everySecond(n, 0), Succeeded: int32(n)}
}

func bySize(b *testing.B, name string, run func(b *testing.B, n int)) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("%s=%d", name, n), func(b *testing.B) {
			b.ReportAllocs()
			run(b, n)
		})
	}
}

func BenchmarkValidate(b *testing.B) {
	for name, specOf := range map[string]func(n int) job.Spec{"SuccessRules": successRules,
		"FailureRules": failureRules} {
		bySize(b, name, func(b *testing.B, n int) {
			for spec := specOf(n); b.Loop(); {
				_ = job.Validate(spec)
			}
		})
	}
}

func BenchmarkCheckTransition(b *testing.B) {
	bySize(b, "Conditions", func(b *testing.B, n int) {
		spec := failureRules(1)
		for old, next := manyConditions(n), manyConditions(n); b.Loop(); {
			_ = jobstatus.CheckTransition(old, next, spec, release.Newest())
		}
	})
	bySize(b, "Indexes", func(b *testing.B, n int) {
		spec := successRules(1)
		for old, next := scattered(n-1), scattered(n); b.Loop(); {
			_ = jobstatus.CheckTransition(old, next, spec, release.Newest())
		}
	})
}

// bytesOf returns the number of bytes that one call allocates.
func bytesOf(call func()) uint64 {
	const runs = 10
	call()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		call()
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / runs
}

// TestJ2_CostFollowsTheText: a rule with two billion indexes is as cheap as any other.
func TestJ2_CostFollowsTheText(t *testing.T) {
	spec := successRules(0)
	if n := testing.AllocsPerRun(10, func() {
		if err := job.Validate(spec); err != nil {
			t.Error(err)
		}
	}); n > 10 {
		t.Errorf("%v allocations for one rule", n)
	}
	if n := bytesOf(func() { _ = job.Validate(spec) }); n > 4096 {
		t.Errorf("%d bytes for one rule", n)
	}
}

// TestCostIsLinear: ten times as much of anything costs about ten times as much memory.
func TestCostIsLinear(t *testing.T) {
	spec := failureRules(1)
	for name, cost := range map[string]func(n int) func(){
		"success rules": func(n int) func() { s := successRules(n); return func() { _ = job.Validate(s) } },
		"failure rules": func(n int) func() { s := failureRules(n); return func() { _ = job.Validate(s) } },
		"conditions": func(n int) func() {
			s := manyConditions(n)
			return func() { _ = jobstatus.CheckTransition(job.Status{}, s, spec, release.Newest()) }
		},
		"indexes": func(n int) func() {
			s, indexed := scattered(n), successRules(1)
			return func() { _ = jobstatus.CheckTransition(job.Status{}, s, indexed, release.Newest()) }
		},
	} {
		small, large := bytesOf(cost(1_000)), bytesOf(cost(10_000))
		if large > 20*small {
			t.Errorf("%s: %d bytes for 1 000, %d for 10 000", name, small, large)
		}
	}
}
