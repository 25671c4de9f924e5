package server

import (
	"context"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestBind binds a pod through the client. Package probe cannot do so: its requests leave out the
// namespace of an object, and the client does not add it to a binding.
func TestBind(t *testing.T) {
	s := New()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "m", Image: "i"}}}}
	if err := s.Create(pod); err != nil {
		t.Fatal(err)
	}
	err := s.Client().CoreV1().Pods("default").Bind(t.Context(), &corev1.Binding{
		ObjectMeta: pod.ObjectMeta, Target: corev1.ObjectReference{Kind: "Node", Name: "node"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if node := Get[*corev1.Pod](s, "default", "p").Spec.NodeName; node != "node" {
		t.Errorf("bound to %q", node)
	}
}

func BenchmarkServer(b *testing.B) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-", Namespace: "default", Finalizers: []string{"batch.kubernetes.io/job-tracking"}},
		Spec: corev1.PodSpec{RestartPolicy: "Never", Containers: []corev1.Container{{Name: "m", Image: "i"}}}}

	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			New()
		}
	})

	s := New()
	c := s.Client()
	b.Run("create", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.CoreV1().Pods("default").Create(context.Background(), pod, metav1.CreateOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})

	b.Run("change", func(b *testing.B) {
		i := int32(0)
		for b.Loop() {
			i++
			if err := ChangeStatus(s, "default", "a-00001", func(p *corev1.Pod) {
				p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "m", RestartCount: i}}
			}); err != nil {
				b.Fatal(err)
			}
		}
	})

	b.Run("job", func(b *testing.B) {
		for b.Loop() {
			_, err := c.BatchV1().Jobs("default").Create(context.Background(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{GenerateName: "j-"},
				Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: pod.Spec}}}, metav1.CreateOptions{})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
