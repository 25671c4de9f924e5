package convert

import (
	"encoding/json"
	"reflect"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/job"
)

// Job returns the planner's value of a job. The version is 0, unknown, if the
// resource version is not a number.
func Job(o *batchv1.Job) job.Job { return JobOf(o, &o.Spec, &o.Status) }

// JobOf returns the planner's value of an object of any kind that is a job of that spec and status.
func JobOf(o metav1.Object, spec *batchv1.JobSpec, status *batchv1.JobStatus) job.Job {
	version, _ := strconv.ParseInt(o.GetResourceVersion(), 10, 64)
	return job.Job{
		Namespace:         o.GetNamespace(),
		Name:              o.GetName(),
		Version:           version,
		UID:               job.UID(o.GetUID()),
		CreationTimestamp: timeOf(o.GetCreationTimestamp()),
		DeletionTimestamp: timeAt(o.GetDeletionTimestamp()),
		Spec:              jobSpec(spec),
		Status:            jobStatus(status),
	}
}

func jobSpec(s *batchv1.JobSpec) job.Spec {
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

// scheduling is a field that k8s.io/api has from v0.37 on.
var scheduling, hasScheduling = reflect.TypeFor[batchv1.JobSpec]().FieldByName("Scheduling")

// schedulingOf returns the field, nil if it is not set.
func schedulingOf(s *batchv1.JobSpec) (out *job.Scheduling) {
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
	return &job.PodFailurePolicy{Rules: each(p.Rules, func(r *batchv1.PodFailurePolicyRule) job.PodFailurePolicyRule {
		out := job.PodFailurePolicyRule{
			Action:          job.FailureAction(r.Action),
			OnPodConditions: each(r.OnPodConditions, podConditionPattern),
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
	return &job.SuccessPolicy{Rules: each(p.Rules, func(r *batchv1.SuccessPolicyRule) job.SuccessPolicyRule {
		return job.SuccessPolicyRule{SucceededIndexes: r.SucceededIndexes, SucceededCount: r.SucceededCount}
	})}
}

func selector(s *metav1.LabelSelector) *job.Selector {
	if s == nil {
		return nil
	}
	return &job.Selector{
		MatchLabels: s.MatchLabels,
		MatchExpressions: each(s.MatchExpressions, func(r *metav1.LabelSelectorRequirement) job.SelectorRequirement {
			return job.SelectorRequirement{Key: r.Key, Operator: job.SelectorOperator(r.Operator), Values: r.Values}
		}),
	}
}

func names(containers []corev1.Container) []string {
	return each(containers, func(c *corev1.Container) string { return c.Name })
}

func jobStatus(s *batchv1.JobStatus) job.Status {
	return job.Status{
		Conditions:              each(s.Conditions, jobCondition),
		StartTime:               timeAt(s.StartTime),
		CompletionTime:          timeAt(s.CompletionTime),
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

func jobCondition(c *batchv1.JobCondition) job.Condition {
	return job.Condition{
		Type:               job.ConditionType(c.Type),
		Status:             job.ConditionStatus(c.Status),
		LastProbeTime:      timeOf(c.LastProbeTime),
		LastTransitionTime: timeOf(c.LastTransitionTime),
		Reason:             c.Reason,
		Message:            c.Message,
	}
}

func uncounted(u *batchv1.UncountedTerminatedPods) *job.UncountedTerminatedPods {
	if u == nil {
		return nil
	}
	return &job.UncountedTerminatedPods{Succeeded: texts[job.UID](u.Succeeded), Failed: texts[job.UID](u.Failed)}
}

// timeOf returns the time in UTC, as the decoders do: the planners write the location of a time
// nowhere.
func timeOf(t metav1.Time) time.Time { return t.UTC() }

func timeAt(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return timeOf(*t)
}

// textAt returns the text that a pointer of an object points to; nil is the empty text.
func textAt[To, From ~string](p *From) To {
	if p == nil {
		return ""
	}
	return To(*p)
}

func texts[To, From ~string](in []From) []To {
	return each(in, func(s *From) To { return To(*s) })
}

// each converts a list; an empty one becomes nil.
func each[From, To any](in []From, convert func(*From) To) []To {
	if len(in) == 0 {
		return nil
	}
	out := make([]To, len(in))
	for i := range in {
		out[i] = convert(&in[i])
	}
	return out
}

// IsFinished reports whether the job has ended (J4).
func IsFinished(o *batchv1.Job) bool {
	for i := range o.Status.Conditions {
		c := &o.Status.Conditions[i]
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}
