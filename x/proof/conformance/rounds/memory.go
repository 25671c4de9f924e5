package rounds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// remembered is the memory of a controller, in a form common to both sides.
type remembered struct {
	creations, deletions int
	satisfied            bool
	failures             int32
	lastFailure          time.Time
	untracking           []job.UID
	finished             bool
}

// memoryOf returns our memory as text.
func memoryOf(m *job.Memory, s *Snapshot, answered *server) string {
	e := m.Expectations
	return remembered{
		// with the quirk CoarseRequeue, expectations are not yet satisfied at the instant when they
		// expire
		creations: e.Creations, deletions: e.Deletions, satisfied: e.Satisfied(s.Now) && !e.Expires().Equal(s.Now),
		failures: m.Backoff.Failures, lastFailure: m.Backoff.LastFailure,
		untracking: slices.Collect(m.Untracking.All()), finished: m.Finished && !played.IsBefore(release.V134()),
	}.describe(s, answered)
}

// describe returns a memory as text. It leaves out what has no effect: satisfied expectations, the
// backoff of a job that has ended or limits failures by index, and some removals of finalizers.
// Only the library remembers these removals. They are from pods that were deleted afterwards, or
// were gone.
func (r remembered) describe(s *Snapshot, answered *server) string {
	by := s.Job.Spec.ManagedBy
	isOthers := by != nil && *by != job.ControllerName && played.Has(release.JobManagedBy)
	if isFinished(s.Job) || isOthers {
		return ""
	}
	if r.satisfied {
		r.creations, r.deletions = 0, 0
	}
	var untracking []job.UID
	for _, p := range s.Pods {
		isOthers := metav1.GetControllerOf(p) != nil && !metav1.IsControlledBy(p, s.Job)
		switch {
		case answered.deleted[p.Name], s.Patch[p.Name] == "gone", p.Labels[labelKey] != labelValue, isOthers:
			continue
		}
		if slices.Contains(r.untracking, job.UID(p.UID)) && isTracked(p) {
			untracking = append(untracking, job.UID(p.UID))
		}
	}
	slices.Sort(untracking)
	var b strings.Builder
	fmt.Fprintf(&b, "expects %d creations, %d deletions; finished %v; untracking %v", max(r.creations, 0),
		max(r.deletions, 0), r.finished, untracking)
	hasEnded := r.finished || answered.ended
	if !hasEnded && r.failures > 0 && s.Job.Spec.BackoffLimitPerIndex == nil {
		fmt.Fprintf(&b, "; %d failures, the last at %s", r.failures, r.lastFailure.UTC().Format(time.RFC3339Nano))
	}
	return b.String()
}

func isTracked(p *corev1.Pod) bool {
	return slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer)
}

func isFinished(j *batchv1.Job) bool { return isEnd(&j.Status) }

func isEnd(s *batchv1.JobStatus) bool {
	return slices.ContainsFunc(s.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}
