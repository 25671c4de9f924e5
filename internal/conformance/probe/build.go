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

// at returns then, seconds later.
func at(seconds int) *metav1.Time {
	return &metav1.Time{Time: then.Add(time.Duration(seconds) * time.Second)}
}

func p[T any](v T) *T { return &v }

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: "main", Image: "example.com/main"}},
	}}
}

func newPod(name string, how ...func(*corev1.Pod)) *corev1.Pod {
	o := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: template().Spec}
	for _, f := range how {
		f(o)
	}
	return o
}

// onNode has the pod assigned to a node, so that deleting it waits for a kubelet.
func onNode(o *corev1.Pod) { o.Spec.NodeName = "node" }

func finalizers(list ...string) func(*corev1.Pod) {
	return func(o *corev1.Pod) { o.Finalizers = list }
}

func ownedBy(j *batchv1.Job) func(*corev1.Pod) {
	return func(o *corev1.Pod) { o.OwnerReferences = append(o.OwnerReferences, controllerRef("Job", j)) }
}

func controllerRef(kind string, o metav1.Object) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: "batch/v1", Kind: kind, Name: o.GetName(), UID: o.GetUID(),
		Controller: p(true), BlockOwnerDeletion: p(true),
	}
}

func newJob(name string, how ...func(*batchv1.Job)) *batchv1.Job {
	o := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{Template: template()}}
	for _, f := range how {
		f(o)
	}
	return o
}

// indexed makes it a job of n indexes, n pods at a time.
func indexed(n int32) func(*batchv1.Job) {
	return func(o *batchv1.Job) {
		o.Spec.CompletionMode = p(batchv1.IndexedCompletion)
		o.Spec.Completions, o.Spec.Parallelism = p(n), p(n)
	}
}

func suspended(o *batchv1.Job) { o.Spec.Suspend = p(true) }

func newCronJob(name string, how ...func(*batchv1.CronJob)) *batchv1.CronJob {
	o := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.CronJobSpec{
		Schedule:    "*/5 * * * *",
		JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template()}},
	}}
	for _, f := range how {
		f(o)
	}
	return o
}

func phase(ph corev1.PodPhase) func(*corev1.Pod) {
	return func(o *corev1.Pod) { o.Status.Phase = ph }
}

func podCondition(t corev1.PodConditionType, reason string) func(*corev1.Pod) {
	return func(o *corev1.Pod) {
		o.Status.Conditions = append(o.Status.Conditions,
			corev1.PodCondition{Type: t, Status: corev1.ConditionTrue, Reason: reason, LastTransitionTime: *at(0)})
	}
}

func jobCondition(t batchv1.JobConditionType, status corev1.ConditionStatus) batchv1.JobCondition {
	return batchv1.JobCondition{Type: t, Status: status, LastProbeTime: *at(0), LastTransitionTime: *at(0)}
}
