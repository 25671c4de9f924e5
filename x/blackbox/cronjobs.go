package blackbox

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// CronJobs is the resource of batch/v1 CronJobs.
func CronJobs() Resource {
	return Resource{
		GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("CronJob"),
		Plural:           "cronjobs",
		Status:           true,
		Type:             func() any { return batchv1.CronJob{} },
	}
}

// NewCronJob returns a *batchv1.CronJob with the settings.
func NewCronJob(s CronSettings) any {
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: "main", Image: "true"}},
	}}
	return &batchv1.CronJob{Spec: batchv1.CronJobSpec{
		Schedule:                   s.Schedule,
		ConcurrencyPolicy:          batchv1.ConcurrencyPolicy(s.Policy),
		StartingDeadlineSeconds:    s.StartingDeadlineSeconds,
		SuccessfulJobsHistoryLimit: s.KeepSucceeded,
		FailedJobsHistoryLimit:     s.KeepFailed,
		Suspend:                    &s.Suspend,
		JobTemplate:                batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template}},
	}}
}

// CronJobRun returns the scheduled time of a CronJob's Job.
func CronJobRun(child Object) time.Time {
	return child.Time("metadata", "annotations", batchv1.CronJobScheduledTimestampAnnotation)
}

// CronJobTimes returns the times in the status of a CronJob that never go back.
func CronJobTimes(parent Object) []time.Time {
	return []time.Time{parent.Time("status", "lastScheduleTime"), parent.Time("status", "lastSuccessfulTime")}
}

// ActiveUIDs returns the UIDs in status.active of a CronJob.
func ActiveUIDs(parent Object) (uids []string) {
	for _, ref := range parent.List("status", "active") {
		uids = append(uids, ref.Text("uid"))
	}
	return uids
}
