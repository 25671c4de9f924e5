package convert_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

func template() *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "ignored",
			Labels:      map[string]string{"app": "a", job.IndexLabel: "99"},
			Annotations: map[string]string{"note": "n", batchv1.JobIndexFailureCountAnnotation: "99"},
			Finalizers:  []string{"example.com/f"},
		},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "init"}},
			Containers: []corev1.Container{
				{Name: "main", Env: []corev1.EnvVar{{Name: "A", Value: "1"}}},
				{Name: "own", Env: []corev1.EnvVar{{Name: job.IndexVariable, Value: "mine"}}},
			},
		},
	}
}

var owner = metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Work", Name: "w", UID: "u"}

func TestNewPod(t *testing.T) {
	in := template()
	got := convert.NewPod("ns", owner, in, &job.Creation{
		Index: job.IndexAt(3), NamePrefix: "w-3-", Hostname: "w-3", PerIndex: true, FailureCount: 2,
	})

	index := corev1.EnvVar{Name: job.IndexVariable, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']"},
	}}
	want := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    "w-3-",
			Namespace:       "ns",
			Labels:          map[string]string{"app": "a", job.IndexLabel: "3"},
			Annotations:     map[string]string{"note": "n", batchv1.JobCompletionIndexAnnotation: "3", batchv1.JobIndexFailureCountAnnotation: "2"},
			Finalizers:      []string{"example.com/f", job.Finalizer},
			OwnerReferences: []metav1.OwnerReference{owner},
		},
		Spec: corev1.PodSpec{
			Hostname:       "w-3",
			InitContainers: []corev1.Container{{Name: "init", Env: []corev1.EnvVar{index}}},
			Containers: []corev1.Container{
				{Name: "main", Env: []corev1.EnvVar{{Name: "A", Value: "1"}, index}},
				{Name: "own", Env: []corev1.EnvVar{{Name: job.IndexVariable, Value: "mine"}}},
			},
		},
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(template(), in); diff != "" {
		t.Errorf("the template was written to (-before +after):\n%s", diff)
	}
}

// TestNewPod_FinalizerOfTheTemplate: a pod has the finalizer once: servers refuse duplicates.
func TestNewPod_FinalizerOfTheTemplate(t *testing.T) {
	in := template()
	in.Finalizers = []string{job.Finalizer, "example.com/f", job.Finalizer}
	in.Labels, in.Annotations = map[string]string{"app": "a"}, map[string]string{"note": "n"}
	got := convert.NewPod("ns", owner, in, &job.Creation{Index: job.NoIndex(), NamePrefix: "w-"})
	if diff := cmp.Diff([]string{job.Finalizer, "example.com/f"}, got.Finalizers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Labels["app"] != "a" || got.Annotations["note"] != "n" {
		t.Errorf("the labels or the annotations of the template are lost: %+v", got)
	}
	if got.Spec.Hostname != "" || len(got.Spec.Containers[0].Env) != 1 || got.Annotations[batchv1.JobCompletionIndexAnnotation] != "" {
		t.Errorf("a pod without an index has got one: %+v", got)
	}
}

func TestNewJob(t *testing.T) {
	parallelism := int32(2)
	in := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", UID: "u"}}
	in.Spec.JobTemplate.Spec.Parallelism = &parallelism
	got := convert.NewJob(in, &cronjob.Creation{
		Name: "c-1", Labels: map[string]string{"l": "1"}, Annotations: map[string]string{"a": "1"},
	})

	yes := true
	want := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: "c-1", Namespace: "ns", Labels: map[string]string{"l": "1"}, Annotations: map[string]string{"a": "1"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "batch/v1", Kind: "CronJob", Name: "c", UID: "u", Controller: &yes, BlockOwnerDeletion: &yes,
			}},
		},
		Spec: batchv1.JobSpec{Parallelism: &parallelism},
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Spec.Parallelism == in.Spec.JobTemplate.Spec.Parallelism {
		t.Error("the job shares its spec with the template")
	}
}
