package rounds

import (
	"fmt"
	"math"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// labelKey and labelValue are the label that the job's selector requires.
const (
	labelKey   = "job"
	labelValue = "work"
)

// spec draws a valid spec over the whole space of features.
func (d *draw) spec(crowd int) batchv1.JobSpec {
	s := batchv1.JobSpec{
		Parallelism:             pointer(pick[int32](d, 0, 1, 1, 2, 2, 3, 5, 8)),
		Completions:             maybe[int32](d, 0, 1, 2, 3, 4, 6),
		BackoffLimit:            pointer(pick[int32](d, 0, 1, 2, 3, 6, 6, math.MaxInt32)),
		ActiveDeadlineSeconds:   some(d, 20, pointer(pick[int64](d, 1, 5, 30, 600))),
		TTLSecondsAfterFinished: some(d, 5, pointer(pick[int32](d, 0, 100))),
		PodReplacementPolicy:    some(d, 40, pointer(pick(d, batchv1.TerminatingOrFailed, batchv1.Failed))),
		Selector:                &metav1.LabelSelector{MatchLabels: map[string]string{labelKey: labelValue}},
		CompletionMode:          maybe(d, batchv1.NonIndexedCompletion),
	}
	if d.chance(30) {
		s.Suspend = pointer(d.chance(60))
	}
	if crowd > 0 {
		s.Parallelism, s.Completions = pointer(int32(pick(d, crowd, crowd, crowd/2, 10))), pointer(int32(crowd+d.IntN(100)))
	}
	if d.chance(55) {
		d.indexed(&s)
	}
	s.Template = d.template()
	if d.chance(30) {
		d.failurePolicy(&s)
	}
	if s.BackoffLimitPerIndex != nil {
		s.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	}
	if d.chance(1) {
		s.ManagedBy = pointer(pick(d, "kubernetes.io/job-controller", "example.com/other"))
	}
	return s
}

func (d *draw) indexed(s *batchv1.JobSpec) {
	s.CompletionMode = pointer(batchv1.IndexedCompletion)
	if s.Completions == nil {
		s.Completions = pointer(pick[int32](d, 1, 3, 5))
	}
	if d.chance(50) {
		s.BackoffLimitPerIndex = pointer(pick[int32](d, 0, 1, 2, 3))
		if d.chance(60) {
			s.BackoffLimit = pointer[int32](math.MaxInt32)
		}
		s.MaxFailedIndexes = maybe(d, 0, 1, 2, *s.Completions)
	}
	if d.chance(25) {
		s.SuccessPolicy = &batchv1.SuccessPolicy{}
		for range 1 + d.IntN(2) {
			s.SuccessPolicy.Rules = append(s.SuccessPolicy.Rules, d.successRule(int(*s.Completions)))
		}
	}
}

// successRule draws a rule that names indexes, or how many, or both.
func (d *draw) successRule(completions int) (r batchv1.SuccessPolicyRule) {
	most := completions
	if completions > 0 && d.chance(60) {
		first := d.IntN(completions)
		last := first + d.IntN(min(completions-first, 4))
		r.SucceededIndexes, most = pointer(fmt.Sprintf("%d-%d", first, last)), last-first+1
		if first == last {
			r.SucceededIndexes = pointer(fmt.Sprint(first))
		}
	}
	if r.SucceededIndexes == nil || d.chance(50) {
		r.SucceededCount = pointer(int32(d.IntN(most + 1)))
	}
	return r
}

// template draws the containers: app containers, init containers and sidecars.
func (d *draw) template() corev1.PodTemplateSpec {
	always := corev1.ContainerRestartPolicyAlways
	t := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{labelKey: labelValue}},
		Spec: corev1.PodSpec{
			RestartPolicy: pick(d, corev1.RestartPolicyNever, corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure),
			Containers:    []corev1.Container{{Name: "main"}},
		},
	}
	if d.chance(20) {
		t.Spec.Containers = append(t.Spec.Containers, corev1.Container{Name: "side", Env: []corev1.EnvVar{{Name: "JOB_COMPLETION_INDEX", Value: "own"}}})
	}
	if d.chance(20) {
		t.Spec.InitContainers = append(t.Spec.InitContainers, corev1.Container{Name: "init"})
	}
	if d.chance(25) {
		t.Spec.InitContainers = append(t.Spec.InitContainers, corev1.Container{Name: "proxy", RestartPolicy: &always})
	}
	if d.chance(10) {
		t.Annotations = map[string]string{"a": "1"}
		t.Finalizers = []string{"example.com/other"}
	}
	return t
}

// failurePolicy draws a policy. It requires restartPolicy Never and replacement of
// failed pods only.
func (d *draw) failurePolicy(s *batchv1.JobSpec) {
	s.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	s.PodReplacementPolicy = pointer(batchv1.Failed)
	s.PodFailurePolicy = &batchv1.PodFailurePolicy{}
	actions := []batchv1.PodFailurePolicyAction{batchv1.PodFailurePolicyActionFailJob,
		batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount}
	if s.BackoffLimitPerIndex != nil {
		actions = append(actions, batchv1.PodFailurePolicyActionFailIndex, batchv1.PodFailurePolicyActionFailIndex)
	}
	for range 1 + d.IntN(3) {
		s.PodFailurePolicy.Rules = append(s.PodFailurePolicy.Rules, d.failureRule(pick(d, actions...)))
	}
}

func (d *draw) failureRule(action batchv1.PodFailurePolicyAction) batchv1.PodFailurePolicyRule {
	r := batchv1.PodFailurePolicyRule{Action: action}
	if d.chance(60) {
		r.OnExitCodes = &batchv1.PodFailurePolicyOnExitCodesRequirement{
			ContainerName: maybe(d, "main", "main", "init", "proxy"),
			Operator:      pick(d, batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn),
			Values:        pick(d, []int32{1}, []int32{2, 42}, []int32{42}, []int32{1, 137}),
		}
		return r
	}
	for range 1 + d.IntN(2) {
		r.OnPodConditions = append(r.OnPodConditions, batchv1.PodFailurePolicyOnPodConditionsPattern{
			Type:   pick(d, corev1.DisruptionTarget, "ConfigIssue", corev1.PodReady),
			Status: pick(d, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown),
		})
	}
	return r
}

// indexes draws a list of indexes in the form of the status; a few are corrupt.
func (d *draw) indexes(below, percent int) string {
	if d.chance(2) {
		return pick(d, "0-", "x", "3-1", "2,0", "-1", "0,0", "1-1", "0,1,2", "0-1", ",")
	}
	var parts []string
	for i := 0; i < below; i++ {
		if !d.chance(percent) {
			continue
		}
		last := i
		for last+1 < below && d.chance(percent) {
			last++
		}
		switch {
		case last == i:
			parts = append(parts, fmt.Sprint(i))
		case last == i+1:
			parts = append(parts, fmt.Sprint(i), fmt.Sprint(last))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", i, last))
		}
		i = last + 1
	}
	return strings.Join(parts, ",")
}

func pointer[T any](v T) *T { return &v }
