package convert

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/internal/batch"
)

// CronJob returns the planner's value of a CronJob.
func CronJob(o *batchv1.CronJob) cronjob.CronJob {
	return Parent(o, cronJobSpec(&o.Spec), cronJobStatus(&o.Status))
}

// specChanged returns the time of the last write of something other than the status.
func specChanged(entries []metav1.ManagedFieldsEntry) (last time.Time) {
	for i := range entries {
		if t := batch.TimeAt(entries[i].Time); entries[i].Subresource == "" && t.After(last) {
			last = t
		}
	}
	return last
}

func cronJobSpec(s *batchv1.CronJobSpec) cronjob.Spec {
	return cronjob.Spec{
		Schedule:                s.Schedule,
		TimeZone:                s.TimeZone,
		StartingDeadlineSeconds: s.StartingDeadlineSeconds,
		ConcurrencyPolicy:       cronjob.ConcurrencyPolicy(s.ConcurrencyPolicy),
		Suspend:                 s.Suspend,
		JobTemplate: cronjob.JobTemplate{
			Labels:      s.JobTemplate.Labels,
			Annotations: s.JobTemplate.Annotations,
		},
		SuccessfulJobsHistoryLimit: s.SuccessfulJobsHistoryLimit,
		FailedJobsHistoryLimit:     s.FailedJobsHistoryLimit,
	}
}

func cronJobStatus(s *batchv1.CronJobStatus) cronjob.Status {
	return cronjob.Status{
		Active:             batch.Each(s.Active, reference),
		LastScheduleTime:   batch.TimeAt(s.LastScheduleTime),
		LastSuccessfulTime: batch.TimeAt(s.LastSuccessfulTime),
	}
}

func reference(r *corev1.ObjectReference) cronjob.Reference {
	return cronjob.Reference{
		Kind:            r.Kind,
		Namespace:       r.Namespace,
		Name:            r.Name,
		UID:             job.UID(r.UID),
		APIVersion:      r.APIVersion,
		ResourceVersion: r.ResourceVersion,
		FieldPath:       r.FieldPath,
	}
}

// Child returns the planner's value of a job as a child of the CronJob (C1). Jobs of other
// namespaces are Foreign. A scheduled time that cannot be parsed is left out.
func Child(of *cronjob.CronJob, o *batchv1.Job) cronjob.Child {
	child := ChildOf(of, o, types.UID(controllerUID(o.OwnerReferences)), &cronjob.Options{})
	Ending(o, &child)
	return child
}

// controllerUID returns the UID of the owner that is the controller, or "". An API server refuses
// two controllers; here the last one counts, as in the decoders.
func controllerUID(owners []metav1.OwnerReference) (uid job.UID) {
	for i := range owners {
		if ref := &owners[i]; ref.Controller != nil && *ref.Controller {
			uid = job.UID(ref.UID)
		}
	}
	return uid
}
