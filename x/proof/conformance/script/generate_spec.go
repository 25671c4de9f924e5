package script

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/specgen"
)

// valid returns a generator of specs over the whole space of features.
func valid(t *rapid.T) specgen.Generator {
	return specgen.Generator{Source: specgen.Rapid(t), Range: specgen.Wild}
}

// wild returns a generator that also draws wrong values.
func wild(t *rapid.T) specgen.Generator {
	g := valid(t)
	if g.IntN(5) == 4 {
		g.Wrong = 12
	}
	return g
}

func drawJob(g specgen.Generator) *batchv1.JobSpec {
	s := specgen.Decode[batchv1.JobSpec](g.Job())
	return &s
}

func limitIndexes(s *batchv1.JobSpec, limit string) {
	s.BackoffLimitPerIndex = int32Of(limit)
	s.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
}

func isIndexed(s *batchv1.JobSpec) bool {
	return s.CompletionMode != nil && *s.CompletionMode == batchv1.IndexedCompletion
}

func drawCronJob(t *rapid.T, p pace) *batchv1.CronJobSpec {
	g := wild(t)
	g.Schedules = p.schedules
	s := specgen.Decode[batchv1.CronJobSpec](g.CronJob())
	template := valid(t)
	template.Statuses = true // older servers require these fields here
	s.JobTemplate.Spec = *drawJob(template)
	// The TTL controller and the history would race for the same jobs.
	s.JobTemplate.Spec.TTLSecondsAfterFinished, s.JobTemplate.Spec.ManagedBy = nil, nil
	return &s
}
