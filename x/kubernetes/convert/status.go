package convert

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// JobStatus returns the status to write to a job.
func JobStatus(s job.Status) batchv1.JobStatus {
	out := batchv1.JobStatus{
		Conditions:       each(s.Conditions, toJobCondition),
		StartTime:        pointer(s.StartTime),
		CompletionTime:   pointer(s.CompletionTime),
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
			Succeeded: texts[types.UID](lists.Succeeded),
			Failed:    texts[types.UID](lists.Failed),
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

// CronJobStatus returns the status to write to a CronJob.
func CronJobStatus(s cronjob.Status) batchv1.CronJobStatus {
	return batchv1.CronJobStatus{
		Active:             each(s.Active, toReference),
		LastScheduleTime:   pointer(s.LastScheduleTime),
		LastSuccessfulTime: pointer(s.LastSuccessfulTime),
	}
}

func toReference(r *cronjob.Reference) corev1.ObjectReference {
	return corev1.ObjectReference{
		Kind:            r.Kind,
		Namespace:       r.Namespace,
		Name:            r.Name,
		UID:             types.UID(r.UID),
		APIVersion:      r.APIVersion,
		ResourceVersion: r.ResourceVersion,
		FieldPath:       r.FieldPath,
	}
}

// pointer returns nil for the zero time: an object leaves it out.
func pointer(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t}
}
