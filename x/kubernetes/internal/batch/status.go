package batch

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/job"
)

// JobStatus returns the status to write to a job.
func JobStatus(s job.Status) batchv1.JobStatus {
	out := batchv1.JobStatus{
		Conditions:       Each(s.Conditions, toJobCondition),
		StartTime:        Pointer(s.StartTime),
		CompletionTime:   Pointer(s.CompletionTime),
		Active:           s.Active,
		Succeeded:        s.Succeeded,
		Failed:           s.Failed,
		Terminating:      s.Terminating,
		CompletedIndexes: s.CompletedIndexes,
		FailedIndexes:    s.FailedIndexes,
		Ready:            s.Ready,
	}
	if lists := s.UncountedTerminatedPods; lists != nil {
		out.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{
			Succeeded: Texts[types.UID](lists.Succeeded),
			Failed:    Texts[types.UID](lists.Failed),
		}
	}
	return out
}

func toJobCondition(c *job.Condition) batchv1.JobCondition {
	return batchv1.JobCondition{
		Type:               batchv1.JobConditionType(c.Type),
		Status:             corev1.ConditionStatus(c.Status),
		LastProbeTime:      metav1.NewTime(c.LastProbeTime),
		LastTransitionTime: metav1.NewTime(c.LastTransitionTime),
		Reason:             c.Reason,
		Message:            c.Message,
	}
}

// Pointer returns a pointer to the time, or nil for the zero time, which an object leaves out.
func Pointer(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t}
}
