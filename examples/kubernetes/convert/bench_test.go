package convert_test

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchplan/batchplan/examples/kubernetes/convert"
	"github.com/batchplan/batchplan/job"
)

// BenchmarkPod converts one running pod, by way of JSON, directly, and out of the cache.
func BenchmarkPod(b *testing.B) {
	of := someJob("a")
	pod := owned(of, 1, 1)
	b.Run("json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			data, err := json.Marshal(pod)
			if err != nil {
				b.Fatal(err)
			}
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

// BenchmarkPods converts 10 000 pods none of which has changed.
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
