package convert

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/internal/batch"
)

// JobStatus returns the status to write to a job.
func JobStatus(s job.Status) batchv1.JobStatus { return batch.JobStatus(s) }

// CronJobStatus returns the status to write to a CronJob.
func CronJobStatus(s cronjob.Status) batchv1.CronJobStatus {
	return batchv1.CronJobStatus{
		Active:             batch.Each(s.Active, toReference),
		LastScheduleTime:   batch.Pointer(s.LastScheduleTime),
		LastSuccessfulTime: batch.Pointer(s.LastSuccessfulTime),
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
