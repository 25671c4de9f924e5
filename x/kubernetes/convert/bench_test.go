package convert_test

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// BenchmarkPod converts one running pod through JSON, directly, and with the cache.
func BenchmarkPod(b *testing.B) {
	of := someJob("a")
	pod := owned(of, 1, 1)

	b.Run("json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			data, err := json.Marshal(pod)
			must.OK(b, err)
			if _, err := job.DecodePod(of, data); err != nil {
				b.Fatal(err)
			}
		}
	})

	b.Run("typed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			convert.Pod(of, pod)
		}
	})

	b.Run("cached", func(b *testing.B) {
		cache, list := &convert.PodCache{}, []*corev1.Pod{pod}
		buffer := cache.Append(nil, of, list)
		b.ReportAllocs()
		for b.Loop() {
			buffer = cache.Append(buffer[:0], of, list)
		}
	})
}

// BenchmarkPods converts 10,000 unchanged pods.
func BenchmarkPods(b *testing.B) {
	of, cache := someJob("a"), &convert.PodCache{}
	var list []*corev1.Pod
	for i := range 10_000 {
		list = append(list, owned(of, i, 1))
	}
	buffer := cache.Append(nil, of, list)
	b.ReportAllocs()
	for b.Loop() {
		buffer = cache.Append(buffer[:0], of, list)
	}
}

// BenchmarkDecode decodes a running pod of a server, whole and without the trimmed fields.
func BenchmarkDecode(b *testing.B) {
	pod := owned(someJob("a"), 1, 1)
	pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	for _, manager := range []string{"controller", "kubelet"} {
		pod.ManagedFields = append(pod.ManagedFields, metav1.ManagedFieldsEntry{Manager: manager, FieldsV1: &metav1.FieldsV1{Raw: []byte(strings.Repeat("{}", 700))}})
	}

	main := &pod.Spec.Containers[0]
	for _, name := range []string{"A", "B", "C"} {
		main.Env = append(main.Env, corev1.EnvVar{Name: name, Value: "value"})
		main.VolumeMounts = append(main.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: "/" + name})
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	main.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")}

	message := encode(b, pod)
	whole, lean := decoders(scheme)
	for name, d := range map[string]runtime.Decoder{"whole": whole, "lean": lean} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				decode(b, d, message)
			}
		})
	}
}
