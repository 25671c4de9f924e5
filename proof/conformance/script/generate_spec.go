package script

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

// maybe draws a pointer to a value, or nil.
func maybe[T any](t *rapid.T, name string, values ...T) *T {
	i := rapid.IntRange(-1, len(values)-1).Draw(t, name)
	if i < 0 {
		return nil
	}
	return &values[i]
}

// drawJob draws a spec over the whole space of features; a few are not valid.
func drawJob(t *rapid.T, wild bool) *batchv1.JobSpec {
	s := &batchv1.JobSpec{
		Parallelism:             maybe[int32](t, "parallelism", 0, 1, 2, 3, 5),
		Completions:             maybe[int32](t, "completions", 0, 1, 2, 3, 4, 6),
		BackoffLimit:            maybe[int32](t, "backoffLimit", 0, 1, 2, 6),
		ActiveDeadlineSeconds:   rarely(t, maybe[int64](t, "activeDeadlineSeconds", 1, 8, 30, 600)),
		TTLSecondsAfterFinished: rarely(t, maybe[int32](t, "ttlSecondsAfterFinished", 0, 4, 100)),
		Suspend:                 rarely(t, maybe(t, "suspend", false, true)),
		PodReplacementPolicy:    rarely(t, maybe(t, "podReplacementPolicy", batchv1.TerminatingOrFailed, batchv1.Failed)),
		Template:                drawTemplate(t),
	}
	if rapid.Bool().Draw(t, "indexed") {
		drawIndexed(t, s)
	}
	if rapid.IntRange(0, 2).Draw(t, "policy") == 0 {
		drawFailurePolicy(t, s)
	}
	if wild && rapid.IntRange(0, 30).Draw(t, "managedBy") == 0 {
		s.ManagedBy = maybe(t, "manager", "kubernetes.io/job-controller", "example.com/other", "nobody")
	}
	if wild && rapid.IntRange(0, 30).Draw(t, "wild") == 0 {
		drawInvalid(t, s)
	}
	return s
}

// rarely keeps one value in three.
func rarely[T any](t *rapid.T, p *T) *T {
	if rapid.IntRange(0, 2).Draw(t, "keep") > 0 {
		return nil
	}
	return p
}

func drawTemplate(t *rapid.T) corev1.PodTemplateSpec {
	spec := corev1.PodSpec{
		RestartPolicy: rapid.SampledFrom([]corev1.RestartPolicy{corev1.RestartPolicyNever, corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure}).Draw(t, "restartPolicy"),
		Containers:    []corev1.Container{{Name: "main", Image: "i"}},
	}
	switch rapid.IntRange(0, 5).Draw(t, "containers") {
	case 0:
		always := corev1.ContainerRestartPolicyAlways
		spec.InitContainers = []corev1.Container{{Name: "init", Image: "i", RestartPolicy: &always}}
	case 1:
		spec.InitContainers = []corev1.Container{{Name: "init", Image: "i"}}
	case 2:
		spec.Containers = append(spec.Containers, corev1.Container{Name: "side", Image: "i", Env: []corev1.EnvVar{{Name: "JOB_COMPLETION_INDEX", Value: "own"}}})
	}
	spec.TerminationGracePeriodSeconds = rarely(t, maybe[int64](t, "grace", 0, 5))
	return corev1.PodTemplateSpec{Spec: spec}
}

func drawIndexed(t *rapid.T, s *batchv1.JobSpec) {
	mode := batchv1.IndexedCompletion
	s.CompletionMode = &mode
	if s.Completions == nil {
		s.Completions = int32Of("3")
	}
	if rapid.IntRange(0, 4).Draw(t, "elastic") == 0 {
		s.Parallelism = int32Of(fmt.Sprint(*s.Completions))
	}
	if rapid.IntRange(0, 1).Draw(t, "perIndex") == 0 {
		s.BackoffLimitPerIndex = maybe[int32](t, "backoffLimitPerIndex", 0, 1, 2)
		if s.BackoffLimitPerIndex != nil {
			s.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
			s.MaxFailedIndexes = maybe[int32](t, "maxFailedIndexes", 0, 1, 2)
			if s.MaxFailedIndexes != nil && *s.MaxFailedIndexes > *s.Completions {
				s.MaxFailedIndexes = nil
			}
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "successPolicy") == 0 {
		s.SuccessPolicy = &batchv1.SuccessPolicy{}
		for range rapid.IntRange(1, 2).Draw(t, "successRules") {
			r := batchv1.SuccessPolicyRule{
				SucceededIndexes: maybe(t, "succeededIndexes", "0", "0-1", "1,2"),
				SucceededCount:   maybe[int32](t, "succeededCount", 1, 2, 3),
			}
			s.SuccessPolicy.Rules = append(s.SuccessPolicy.Rules, r)
		}
	}
}

func drawFailurePolicy(t *rapid.T, s *batchv1.JobSpec) {
	s.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	s.PodReplacementPolicy = nil
	s.PodFailurePolicy = &batchv1.PodFailurePolicy{}
	actions := []batchv1.PodFailurePolicyAction{batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore,
		batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount}
	if s.BackoffLimitPerIndex != nil {
		actions = append(actions, batchv1.PodFailurePolicyActionFailIndex, batchv1.PodFailurePolicyActionFailIndex)
	}
	for range rapid.IntRange(1, 3).Draw(t, "rules") {
		r := batchv1.PodFailurePolicyRule{Action: rapid.SampledFrom(actions).Draw(t, "action")}
		if rapid.Bool().Draw(t, "codes") {
			r.OnExitCodes = &batchv1.PodFailurePolicyOnExitCodesRequirement{
				ContainerName: maybe(t, "container", "main"),
				Operator:      rapid.SampledFrom([]batchv1.PodFailurePolicyOnExitCodesOperator{batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn}).Draw(t, "operator"),
				Values:        rapid.SampledFrom([][]int32{{1}, {2, 42}, {42}, {1, 137}}).Draw(t, "values"),
			}
		} else {
			r.OnPodConditions = []batchv1.PodFailurePolicyOnPodConditionsPattern{{
				Type:   rapid.SampledFrom([]corev1.PodConditionType{corev1.DisruptionTarget, "ConfigIssue", corev1.PodReady}).Draw(t, "type"),
				Status: rapid.SampledFrom([]corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse}).Draw(t, "status"),
			}}
		}
		s.PodFailurePolicy.Rules = append(s.PodFailurePolicy.Rules, r)
	}
}

// drawInvalid breaks one rule of J2.
func drawInvalid(t *rapid.T, s *batchv1.JobSpec) {
	indexed := batchv1.IndexedCompletion
	breaks := []func(){
		func() { s.Parallelism = int32Of("-1") },
		func() { s.Completions = int32Of("-1") },
		func() { s.BackoffLimit = int32Of("-1") },
		func() { s.ActiveDeadlineSeconds = int64Of("-1") },
		func() { s.TTLSecondsAfterFinished = int32Of("-1") },
		func() { s.BackoffLimitPerIndex = int32Of("-1") },
		func() { s.CompletionMode, s.Completions = &indexed, nil },
		func() { s.CompletionMode = nil; s.BackoffLimitPerIndex = int32Of("1") },
		func() { s.MaxFailedIndexes = int32Of("1"); s.BackoffLimitPerIndex = nil },
		func() { mode := batchv1.CompletionMode("Sorted"); s.CompletionMode = &mode },
		func() { s.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways },
		func() { s.SuccessPolicy = &batchv1.SuccessPolicy{} },
		func() {
			s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: int32Of("0")}}}
		},
		func() { s.PodFailurePolicy = &batchv1.PodFailurePolicy{}; s.PodReplacementPolicy = nil },
		func() {
			s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{Action: "FailJob"}}}
		},
		func() { p := batchv1.PodReplacementPolicy("Never"); s.PodReplacementPolicy = &p },
		func() { s.CompletionMode, s.Completions, s.Parallelism = &indexed, int32Of("1"), int32Of("100001") },
	}
	breaks[rapid.IntRange(0, len(breaks)-1).Draw(t, "break")]()
}

func drawCronJob(t *rapid.T, p pace) *batchv1.CronJobSpec {
	schedules := p.schedules
	if rapid.IntRange(0, 20).Draw(t, "invalid") == 0 {
		schedules = invalid
	}
	s := &batchv1.CronJobSpec{
		Schedule:                   rapid.SampledFrom(schedules).Draw(t, "schedule"),
		TimeZone:                   rarely(t, maybe(t, "timeZone", "Etc/UTC", "Asia/Tokyo", "America/New_York", "Asia/Kathmandu", "Local", "Mars/Base")),
		StartingDeadlineSeconds:    rarely(t, maybe[int64](t, "startingDeadlineSeconds", 0, 10, 60, 200, 5000, 100000, -1)),
		ConcurrencyPolicy:          rapid.SampledFrom([]batchv1.ConcurrencyPolicy{"", batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}).Draw(t, "concurrencyPolicy"),
		Suspend:                    rarely(t, maybe(t, "suspend", false, true)),
		SuccessfulJobsHistoryLimit: maybe[int32](t, "successfulJobsHistoryLimit", 0, 1, 2),
		FailedJobsHistoryLimit:     maybe[int32](t, "failedJobsHistoryLimit", 0, 1, 2),
		JobTemplate:                batchv1.JobTemplateSpec{Spec: *drawJob(t, false)},
	}
	// The TTL controller and the history would race for the same jobs.
	s.JobTemplate.Spec.TTLSecondsAfterFinished = nil
	if rapid.Bool().Draw(t, "labels") {
		s.JobTemplate.Labels = map[string]string{"l": "1"}
		s.JobTemplate.Annotations = map[string]string{"a": "1"}
	}
	return s
}
