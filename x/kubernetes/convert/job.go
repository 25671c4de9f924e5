package convert

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/internal/batch"
)

// Job returns the planner's value of a job. The version is 0 if the resource version is not a number.
func Job(o *batchv1.Job) job.Job { return JobOf(o, &o.Spec, &o.Status) }

// JobOf returns the planner's value of an object of any kind with the spec and the status of a job.
func JobOf(o metav1.Object, spec *batchv1.JobSpec, status *batchv1.JobStatus) job.Job {
	version, _ := strconv.ParseInt(o.GetResourceVersion(), 10, 64)
	return job.Job{
		Namespace:         o.GetNamespace(),
		Name:              o.GetName(),
		Version:           version,
		UID:               job.UID(o.GetUID()),
		CreationTimestamp: batch.Time(o.GetCreationTimestamp()),
		DeletionTimestamp: batch.TimeAt(o.GetDeletionTimestamp()),
		Spec:              batch.Spec(spec),
		Status:            batch.Status(status),
	}
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
