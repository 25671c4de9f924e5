package replica

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
)

// TestRunControllers_MemoryAnnotation: the backoff of a job with a failed pod is in the annotation
// that the configuration names, and the caches show all that the planner reads of the pod.
func TestRunControllers_MemoryAnnotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name, controller := "a.b/c", true
		labels := map[string]string{"job": "j"}
		j := &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "ns", UID: "u"},
			Spec: batchv1.JobSpec{
				Parallelism: pointTo(int32(1)), Completions: pointTo(int32(1)), BackoffLimit: pointTo(int32(6)), ManagedBy: &name,
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}},
			},
		}
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: "j-1", Namespace: "ns", UID: "p", Labels: labels, Finalizers: []string{job.Finalizer}, CreationTimestamp: metav1.Now(),
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: "u", Controller: &controller}},
			},
			Status: corev1.PodStatus{Phase: corev1.PodFailed},
		}
		c, err := Config{ManagedBy: name, MemoryAnnotation: "example.com/memory", Identity: "me"}.withDefaults()
		must.OK(t, err)
		client := fake.NewClientset(j, pod)
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		done := make(chan error, 1)
		go func() { done <- c.runControllers(ctx, client, nil) }()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		got, err := client.BatchV1().Jobs("ns").Get(t.Context(), "j", metav1.GetOptions{})
		must.OK(t, err)
		if text := got.Annotations["example.com/memory"]; !strings.Contains(text, `"u"`) || got.Status.Failed != 1 {
			t.Errorf("annotation %q, status %+v", text, got.Status)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func pointTo[T any](v T) *T { return &v }
