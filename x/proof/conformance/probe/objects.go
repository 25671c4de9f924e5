package probe

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// tracking is the finalizer of the job controller's pods.
	tracking = batchv1.JobTrackingFinalizer
	// other is a finalizer of another owner.
	other = "example.com/other"
	// strange is a UID that no object has.
	strange = types.UID("00000000-0000-4000-8000-000000000000")
)

// then is a time in whole seconds, far from now.
var then = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// at returns the time that is a number of seconds after the variable then.
func at(seconds int) *metav1.Time {
	return &metav1.Time{Time: then.Add(time.Duration(seconds) * time.Second)}
}

// atHalf returns a time between two seconds.
func atHalf() *metav1.Time { return &metav1.Time{Time: then.Add(time.Second / 2)} }

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: "main", Image: "example.com/main"}},
	}}
}

func newPod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: template().Spec}
}

func newJob(name string) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{Template: template()}}
}

func newCronJob(name string) *batchv1.CronJob {
	return &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.CronJobSpec{
		Schedule:    "*/5 * * * *",
		JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template()}},
	}}
}

// newEvent returns an event about a job, in the form in which a controller's recorder sends it.
func newEvent(name string, j *batchv1.Job) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: j.Namespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "batch/v1", Kind: "Job", Namespace: j.Namespace, Name: j.Name, UID: j.UID, ResourceVersion: "7",
		},
		Reason: "SuccessfulCreate", Message: "Created pod", Type: corev1.EventTypeNormal,
		Source:         corev1.EventSource{Component: "job-controller"},
		FirstTimestamp: *at(0), LastTimestamp: *at(0), Count: 1,
		ReportingController: "job-controller",
	}
}

func controllerRef(kind string, o metav1.Object) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{
		APIVersion: "batch/v1", Kind: kind, Name: o.GetName(), UID: o.GetUID(),
		Controller: &yes, BlockOwnerDeletion: &yes,
	}
}
