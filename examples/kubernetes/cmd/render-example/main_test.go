package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/job"
)

func object(name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Render",
		"metadata": map[string]any{"name": name, "namespace": "ns", "uid": "uid-of-" + name}, "spec": spec,
	}}
}

// TestRender: three frames are rendered, one of them twice, beside a Render that nobody can
// read.
func TestRender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		template := map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "main", "image": "renderer"}}}}
		lists := map[schema.GroupVersionResource]string{group.WithResource("renders"): "RenderList"}
		dynamicClient := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists,
			object("r", map[string]any{"frames": int64(3), "template": template}), object("bad", map[string]any{"frames": "three"}))
		client := fake.NewClientset()
		var created atomic.Int32
		client.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
			pod, n := a.(clienttesting.CreateAction).GetObject().(*corev1.Pod), created.Add(1)
			pod.Name, pod.UID, pod.CreationTimestamp = fmt.Sprint(pod.GenerateName, n), types.UID(fmt.Sprint("pod-", n)), metav1.Now()
			return false, nil, nil
		})
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		done := make(chan error, 1)
		go func() { done <- run(ctx, client, dynamicClient) }()
		defer func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}()
		rest := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		end := func(index string, phase corev1.PodPhase) {
			t.Helper()
			list, err := client.CoreV1().Pods("ns").List(t.Context(), metav1.ListOptions{LabelSelector: "render=r," + job.IndexLabel + "=" + index})
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(list.Items, func(p corev1.Pod) bool { return p.Status.Phase == "" })
			if i < 0 {
				t.Fatalf("no pod renders frame %s", index)
			}
			pod := list.Items[i]
			pod.Status.Phase = phase
			if _, err := client.CoreV1().Pods("ns").UpdateStatus(t.Context(), &pod, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		status := func(fields ...string) string {
			t.Helper()
			o, err := dynamicClient.Resource(group.WithResource("renders")).Namespace("ns").Get(t.Context(), "r", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			value, _, _ := unstructured.NestedFieldNoCopy(o.Object, append([]string{"status"}, fields...)...)
			return fmt.Sprint(value)
		}

		rest(2 * time.Second)
		end("0", corev1.PodSucceeded)
		end("1", corev1.PodFailed)
		end("2", corev1.PodSucceeded)
		rest(15 * time.Second)
		if got := status("completedIndexes"); got != "0,2" {
			t.Errorf("completed %s", got)
		}
		if got := status("failed"); got != "1" {
			t.Errorf("failed %s", got)
		}
		end("1", corev1.PodSucceeded)
		rest(5 * time.Second)
		if got := status("completedIndexes"); got != "0-2" {
			t.Errorf("completed %s", got)
		}
		value := toJob(read(func() *unstructured.Unstructured {
			o, err := dynamicClient.Resource(group.WithResource("renders")).Namespace("ns").Get(t.Context(), "r", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return o
		}()))
		if value.Status.Finished() != job.ConditionComplete || created.Load() != 4 {
			t.Errorf("%d pods, status %+v", created.Load(), value.Status)
		}
		pods, err := client.CoreV1().Pods("ns").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pods.Items {
			if owner := metav1.GetControllerOf(&p); owner == nil || owner.Kind != "Render" || len(p.Finalizers) > 0 {
				t.Errorf("pod %s: owner %v, finalizers %v", p.Name, owner, p.Finalizers)
			}
		}
	})
}
