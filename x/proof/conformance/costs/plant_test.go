package costs

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
)

// encoder writes objects as the API server stores them.
var encoder = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)

// store writes a pod directly into the storage, past the API server, whose watches show the pod
// like any other change. A write through the server takes some milliseconds of processor time: with
// thousands of pods the test would measure little else.
func (l *lab) store(ctx context.Context, pod *corev1.Pod) error {
	pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	pod.ResourceVersion = ""
	var data bytes.Buffer
	if err := encoder.Encode(pod, &data); err != nil {
		return err
	}
	_, err := l.etcd.Put(ctx, path.Join("/registry/pods", pod.Namespace, pod.Name), data.String())
	return err
}

// plant stores n running pods of a job.
func (l *lab) plant(t *testing.T, j *batchv1.Job, n int) {
	t.Helper()
	many(t, n, func(i int) error {
		pod := &corev1.Pod{ObjectMeta: *j.Spec.Template.ObjectMeta.DeepCopy(), Spec: *j.Spec.Template.Spec.DeepCopy()}
		name := j.Name
		if *j.Spec.CompletionMode == batchv1.IndexedCompletion {
			index := strconv.Itoa(i)
			name += "-" + index
			pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: index}
			pod.Labels[batchv1.JobCompletionIndexAnnotation] = index
		}
		pod.Name, pod.GenerateName, pod.Namespace = fmt.Sprintf("%s-%05d", name, i), name+"-", j.Namespace
		pod.UID = types.UID(fmt.Sprintf("%s-%012d", j.UID[:23], i))
		pod.CreationTimestamp, pod.Finalizers = metav1.Now(), []string{job.Finalizer}
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(j, batchv1.SchemeGroupVersion.WithKind("Job"))}
		// Managed fields, as a server stores them: who has written which fields.
		pod.ManagedFields = []metav1.ManagedFieldsEntry{
			{Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &pod.CreationTimestamp,
				FieldsType: "FieldsV1", FieldsV1: fieldsOf(1500)},
			{Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &pod.CreationTimestamp,
				FieldsType: "FieldsV1", FieldsV1: fieldsOf(1500), Subresource: "status"},
		}
		pod.Spec.NodeName, pod.Status.QOSClass = "node", corev1.PodQOSBurstable
		pod.Status = statusOf(pod, corev1.PodRunning, corev1.ConditionTrue, running())
		return l.store(t.Context(), pod)
	})
}

// fieldsOf returns managed fields of about the given size in bytes.
func fieldsOf(size int) *metav1.FieldsV1 {
	text := `{"f:metadata":{`
	for i := 0; len(text) < size; i++ {
		text += fmt.Sprintf(`"f:field-%d":{},`, i)
	}
	fields := new(metav1.FieldsV1)
	if err := fields.UnmarshalJSON([]byte(text + `".":{}}}`)); err != nil { // NewFieldsV1 came with 1.36
		panic(err) // unreachable
	}
	return fields
}

func (l *lab) rewrite(t *testing.T, pods []*corev1.Pod, status func(*corev1.Pod) corev1.PodStatus) {
	t.Helper()
	many(t, len(pods), func(i int) error {
		pod := pods[i].DeepCopy()
		pod.Status = status(pod)
		return l.store(t.Context(), pod)
	})
}

// many calls a function with 0 to n-1, several concurrently.
func many(t *testing.T, n int, do func(i int) error) {
	t.Helper()
	var working sync.WaitGroup
	var next atomic.Int64
	for range hands {
		working.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	working.Wait()
}

func dial(t *testing.T, address string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{address}})
	must.OK(t, err)
	t.Cleanup(func() { client.Close() })
	return client
}
