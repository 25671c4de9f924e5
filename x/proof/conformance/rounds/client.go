//go:build rounds

package rounds

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedbatch "k8s.io/client-go/kubernetes/typed/batch/v1"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	batchlisters "k8s.io/client-go/listers/batch/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"

	"github.com/batchplan/batchplan/job"
)

// client implements the part of a client that the job controller uses. The rest is nil, and would
// panic.
type client struct {
	kubernetes.Interface
	server *server
}

func (c *client) BatchV1() typedbatch.BatchV1Interface { return batchClient{server: c.server} }
func (c *client) CoreV1() typedcore.CoreV1Interface    { return coreClient{server: c.server} }

type batchClient struct {
	typedbatch.BatchV1Interface
	server *server
}

func (c batchClient) Jobs(string) typedbatch.JobInterface { return &jobClient{server: c.server} }

type coreClient struct {
	typedcore.CoreV1Interface
	server *server
}

func (c coreClient) Pods(string) typedcore.PodInterface { return &podClient{server: c.server} }

type jobClient struct {
	typedbatch.JobInterface
	server *server
}

func (c *jobClient) Get(context.Context, string, metav1.GetOptions) (*batchv1.Job, error) {
	return c.server.readJob()
}

func (c *jobClient) UpdateStatus(_ context.Context, j *batchv1.Job, _ metav1.UpdateOptions) (*batchv1.Job, error) {
	if err := c.server.writeStatus(&j.Status); err != nil {
		return nil, err
	}
	return j.DeepCopy(), nil
}

type podClient struct {
	typedcore.PodInterface
	server *server
}

func (c *podClient) Create(_ context.Context, p *corev1.Pod, _ metav1.CreateOptions) (*corev1.Pod, error) {
	return c.server.create(p)
}

func (c *podClient) Delete(_ context.Context, pod string, _ metav1.DeleteOptions) error {
	return c.server.delete(pod)
}

func (c *podClient) Patch(
	_ context.Context, pod string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string,
) (*corev1.Pod, error) {
	return &corev1.Pod{}, c.server.patchPod(pod, data)
}

// patchPod finds out the purpose of a patch, and answers it.
func (s *server) patchPod(pod string, data []byte) error {
	var p struct {
		Metadata struct {
			UID        types.UID
			Finalizers []string
			Removed    []string `json:"$deleteFromPrimitiveList/finalizers"`
			Owners     []struct {
				UID    types.UID
				Kind   string
				Delete string `json:"$patch"`
			} `json:"ownerReferences"`
		}
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	m := &p.Metadata
	tracks := slices.Equal(m.Finalizers, []string{job.Finalizer})
	untracks := slices.Equal(m.Removed, []string{job.Finalizer})
	switch {
	case len(m.Owners) == 0 && untracks:
		return s.patch("untrack", pod)
	case len(m.Owners) == 1 && m.Owners[0].Delete == "delete" && untracks:
		return s.patch("release", pod)
	case len(m.Owners) == 1 && tracks:
		if of := &m.Owners[0]; of.Kind == "Job" && of.UID == jobUID {
			return s.patch("adopt", pod)
		}
	}
	return s.patch("unknown patch "+string(data), pod)
}

// jobLister is a cache of one job.
type jobLister struct {
	batchlisters.JobLister
	job *batchv1.Job
}

func (l jobLister) Jobs(string) batchlisters.JobNamespaceLister { return oneJob{job: l.job} }

type oneJob struct {
	batchlisters.JobNamespaceLister
	job *batchv1.Job
}

func (l oneJob) Get(name string) (*batchv1.Job, error) {
	if l.job == nil || l.job.Name != name {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "jobs"}, name)
	}
	return l.job, nil
}

type recorder struct {
	record.EventRecorder
	mu     sync.Mutex
	events []string
}

func (r *recorder) Event(_ runtime.Object, kind, reason, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf("%s %s %s", kind, reason, message))
}

func (r *recorder) Eventf(o runtime.Object, kind, reason, format string, args ...any) {
	r.Event(o, kind, reason, fmt.Sprintf(format, args...))
}

// queue keeps the earliest time of the next round.
type queue struct {
	workqueue.TypedRateLimitingInterface[string]
	requeue *time.Duration
}

func (q *queue) AddAfter(_ string, after time.Duration) {
	if q.requeue == nil || after < *q.requeue {
		q.requeue = &after
	}
}
