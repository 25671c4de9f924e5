// Package batch converts specs and statuses of batch/v1 to values of package job, and statuses back.
package batch

import (
	"encoding/json"
	"reflect"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// Defaulted returns the planner's value of a spec, with a server's defaults.
func Defaulted(s *batchv1.JobSpec) job.Spec {
	spec := Spec(s)
	job.Default(&spec)
	return spec
}

// Spec returns the planner's value of a spec.
func Spec(s *batchv1.JobSpec) job.Spec {
	return job.Spec{
		Parallelism:             s.Parallelism,
		Completions:             s.Completions,
		CompletionMode:          textAt[job.CompletionMode](s.CompletionMode),
		BackoffLimit:            s.BackoffLimit,
		BackoffLimitPerIndex:    s.BackoffLimitPerIndex,
		MaxFailedIndexes:        s.MaxFailedIndexes,
		ActiveDeadlineSeconds:   s.ActiveDeadlineSeconds,
		TTLSecondsAfterFinished: s.TTLSecondsAfterFinished,
		Suspend:                 s.Suspend,
		PodFailurePolicy:        failurePolicy(s.PodFailurePolicy),
		SuccessPolicy:           successPolicy(s.SuccessPolicy),
		PodReplacementPolicy:    textAt[job.PodReplacementPolicy](s.PodReplacementPolicy),
		ManagedBy:               s.ManagedBy,
		Selector:                selector(s.Selector),
		Template: job.Template{
			RestartPolicy:  job.RestartPolicy(s.Template.Spec.RestartPolicy),
			Containers:     names(s.Template.Spec.Containers),
			InitContainers: names(s.Template.Spec.InitContainers),
		},
		Scheduling: schedulingOf(s),
	}
}

// scheduling is the field spec.scheduling, which k8s.io/api has from v0.37 on.
var scheduling, hasScheduling = reflect.TypeFor[batchv1.JobSpec]().FieldByName("Scheduling")

// schedulingOf returns spec.scheduling, or nil if it is not set.
func schedulingOf(s *batchv1.JobSpec) (out *jobgroup.Scheduling) {
	if !hasScheduling {
		return nil
	}
	field := reflect.ValueOf(s).Elem().FieldByIndex(scheduling.Index)
	data, err := json.Marshal(field.Interface())
	if err != nil || json.Unmarshal(data, &out) != nil {
		return nil // unreachable: both have the JSON of batch/v1
	}
	return out
}

func failurePolicy(p *batchv1.PodFailurePolicy) *job.PodFailurePolicy {
	if p == nil {
		return nil
	}
	return &job.PodFailurePolicy{Rules: Each(p.Rules, func(r *batchv1.PodFailurePolicyRule) job.PodFailurePolicyRule {
		out := job.PodFailurePolicyRule{
			Action:          job.FailureAction(r.Action),
			OnPodConditions: Each(r.OnPodConditions, podConditionPattern),
		}
		if on := r.OnExitCodes; on != nil {
			out.OnExitCodes = &job.OnExitCodes{
				ContainerName: on.ContainerName,
				Operator:      job.ExitCodeOperator(on.Operator),
				Values:        on.Values,
			}
		}
		return out
	})}
}

func podConditionPattern(p *batchv1.PodFailurePolicyOnPodConditionsPattern) job.PodCondition {
	return job.PodCondition{Type: string(p.Type), Status: job.ConditionStatus(p.Status)}
}

func successPolicy(p *batchv1.SuccessPolicy) *job.SuccessPolicy {
	if p == nil {
		return nil
	}
	return &job.SuccessPolicy{Rules: Each(p.Rules, func(r *batchv1.SuccessPolicyRule) job.SuccessPolicyRule {
		return job.SuccessPolicyRule{SucceededIndexes: r.SucceededIndexes, SucceededCount: r.SucceededCount}
	})}
}

func selector(s *metav1.LabelSelector) *job.Selector {
	if s == nil {
		return nil
	}
	return &job.Selector{
		MatchLabels: s.MatchLabels,
		MatchExpressions: Each(s.MatchExpressions, func(r *metav1.LabelSelectorRequirement) job.SelectorRequirement {
			return job.SelectorRequirement{Key: r.Key, Operator: job.SelectorOperator(r.Operator), Values: r.Values}
		}),
	}
}

func names(containers []corev1.Container) []string {
	return Each(containers, func(c *corev1.Container) string { return c.Name })
}

// Status returns the planner's value of a status.
func Status(s *batchv1.JobStatus) job.Status {
	return job.Status{
		Conditions:              Each(s.Conditions, Condition),
		StartTime:               TimeAt(s.StartTime),
		CompletionTime:          TimeAt(s.CompletionTime),
		Active:                  s.Active,
		Succeeded:               s.Succeeded,
		Failed:                  s.Failed,
		Terminating:             s.Terminating,
		CompletedIndexes:        s.CompletedIndexes,
		FailedIndexes:           s.FailedIndexes,
		UncountedTerminatedPods: uncounted(s.UncountedTerminatedPods),
		Ready:                   s.Ready,
	}
}

// Condition returns the planner's value of a condition.
func Condition(c *batchv1.JobCondition) job.Condition {
	return job.Condition{
		Type:               job.ConditionType(c.Type),
		Status:             job.ConditionStatus(c.Status),
		LastProbeTime:      Time(c.LastProbeTime),
		LastTransitionTime: Time(c.LastTransitionTime),
		Reason:             c.Reason,
		Message:            c.Message,
	}
}

func uncounted(u *batchv1.UncountedTerminatedPods) *job.UncountedTerminatedPods {
	if u == nil {
		return nil
	}
	return &job.UncountedTerminatedPods{Succeeded: Texts[job.UID](u.Succeeded), Failed: Texts[job.UID](u.Failed)}
}

// Time returns the time in UTC, as the decoders do. The planners never write a time's location.
func Time(t metav1.Time) time.Time { return t.UTC() }

// TimeAt returns the time of a field, or the zero time for nil.
func TimeAt(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return Time(*t)
}

// textAt returns the string at a pointer, or "" for nil.
func textAt[To, From ~string](p *From) To {
	if p == nil {
		return ""
	}
	return To(*p)
}

// Texts converts a list of strings.
func Texts[To, From ~string](in []From) []To {
	return Each(in, func(s *From) To { return To(*s) })
}

// Each converts a list; an empty list becomes nil.
func Each[From, To any](in []From, convert func(*From) To) []To {
	if len(in) == 0 {
		return nil
	}
	out := make([]To, len(in))
	for i := range in {
		out[i] = convert(&in[i])
	}
	return out
}
