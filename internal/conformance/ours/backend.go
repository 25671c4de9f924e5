package ours

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

// backend carries out the plan of one round on the API server.
type backend struct {
	*jobs
	key     string
	object  *batchv1.Job
	decoded *job.Job

	fresh    sync.Once
	freshErr error

	mu   sync.Mutex
	gone string // an orphan that could not be adopted any more
}

type patchMeta struct {
	UID             string           `json:"uid"`
	ResourceVersion string           `json:"resourceVersion,omitempty"`
	OwnerReferences []map[string]any `json:"ownerReferences,omitempty"`
	Finalizers      []string         `json:"finalizers,omitempty"`
	Removed         []string         `json:"$deleteFromPrimitiveList/finalizers,omitempty"`
}

// patch changes the pod's metadata on condition of its UID.
func (b *backend) patch(ctx context.Context, pod job.PodRef, p patchMeta) error {
	p.UID = pod.UID
	data, err := json.Marshal(map[string]any{"metadata": p})
	must(err)
	out, err := b.client.CoreV1().Pods(b.object.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, data, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return jobapply.ErrGone
	}
	if err == nil {
		b.wrote(out)
	}
	return err
}

// wrote remembers the version of an own write to a pod that has a controller.
func (b *backend) wrote(pod *corev1.Pod) {
	if ref := metav1.GetControllerOf(pod); ref != nil {
		b.written.wrote(b.object.Namespace+"/"+ref.Name, string(ref.UID), "pods", pod.ResourceVersion)
	}
}

// Adopt looks at the job once a round.
func (b *backend) Adopt(ctx context.Context, pod job.PodRef) error {
	b.fresh.Do(func() { b.freshErr = b.look(ctx) })
	if b.freshErr != nil {
		return b.freshErr
	}
	err := b.patch(ctx, pod, patchMeta{
		OwnerReferences: []map[string]any{{
			"apiVersion": "batch/v1", "kind": "Job", "name": b.object.Name, "uid": b.object.UID,
			"controller": true, "blockOwnerDeletion": true,
		}},
		Finalizers: []string{job.Finalizer},
	})
	if errors.Is(err, jobapply.ErrGone) {
		b.mu.Lock()
		b.gone = pod.UID
		b.mu.Unlock()
	}
	return err
}

func (b *backend) look(ctx context.Context) error {
	fresh, err := b.client.BatchV1().Jobs(b.object.Namespace).Get(ctx, b.object.Name, metav1.GetOptions{})
	switch {
	case err != nil:
		return err
	case fresh.UID != b.object.UID:
		return fmt.Errorf("job %s: UID %q has become %q", b.key, b.object.UID, fresh.UID)
	case fresh.DeletionTimestamp != nil:
		return fmt.Errorf("job %s is being deleted", b.key)
	}
	return nil
}

// Release removes the reference and the finalizer.
func (b *backend) Release(ctx context.Context, pod job.PodRef) error {
	err := b.patch(ctx, pod, patchMeta{
		OwnerReferences: []map[string]any{{"$patch": "delete", "uid": b.object.UID}},
		Removed:         []string{job.Finalizer},
	})
	if apierrors.IsInvalid(err) { // it is another pod by now
		return nil
	}
	return err
}

// Delete removes the finalizer first if asked to.
func (b *backend) Delete(ctx context.Context, d job.Deletion) error {
	if d.UntrackFirst {
		p := patchMeta{ResourceVersion: d.ResourceVersion, Removed: []string{job.Finalizer}}
		if err := b.patch(ctx, d.PodRef, p); errors.Is(err, jobapply.ErrGone) {
			return err
		} else if err != nil {
			return fmt.Errorf("%w: %w", jobapply.ErrStillTracked, err)
		}
	}
	err := b.client.CoreV1().Pods(b.object.Namespace).Delete(ctx, d.Name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return jobapply.ErrGone
	}
	return err
}

// Create makes the pod from the template.
func (b *backend) Create(ctx context.Context, c job.Creation) (job.PodRef, error) {
	out, err := b.client.CoreV1().Pods(b.object.Namespace).Create(ctx, b.build(&c), metav1.CreateOptions{})
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return job.PodRef{}, jobapply.ErrNamespaceTerminating
	case err != nil:
		return job.PodRef{}, err
	}
	b.wrote(out)
	return job.PodRef{Name: out.Name, UID: string(out.UID)}, nil
}

func (b *backend) build(c *job.Creation) *corev1.Pod {
	template := b.object.Spec.Template.DeepCopy()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    c.NamePrefix,
			Namespace:       b.object.Namespace,
			Labels:          joined(template.Labels, c.Labels()),
			Annotations:     joined(template.Annotations, c.Annotations()),
			Finalizers:      append(slices.Clone(template.Finalizers), job.Finalizer),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(b.object, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: template.Spec,
	}
	if c.Index == job.NoIndex {
		return pod
	}
	pod.Spec.Hostname = c.Hostname
	for _, containers := range [...][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			addIndexVariable(&containers[i])
		}
	}
	return pod
}

func joined(a, b map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

func addIndexVariable(c *corev1.Container) {
	for _, e := range c.Env {
		if e.Name == job.IndexVariable {
			return
		}
	}
	c.Env = append(c.Env, corev1.EnvVar{Name: job.IndexVariable, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: fmt.Sprintf("metadata.labels['%s']", job.IndexLabel)},
	}})
}

// Untrack removes the finalizer.
func (b *backend) Untrack(ctx context.Context, pod job.PodRef) error {
	b.tracker.ExpectUntracked(b.key, pod.UID)
	err := b.patch(ctx, pod, patchMeta{Removed: []string{job.Finalizer}})
	if apierrors.IsInvalid(err) { // it is another pod by now
		err = jobapply.ErrGone
	}
	if err != nil {
		b.tracker.UntrackObserved(b.key, pod.UID)
	}
	return err
}

// WriteStatus writes on the version of the snapshot, or of the round's last write.
func (b *backend) WriteStatus(ctx context.Context, s job.Status) error {
	object := b.object.DeepCopy()
	object.Status = encodeStatus(s)
	out, err := b.client.BatchV1().Jobs(object.Namespace).UpdateStatus(ctx, object, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	b.object = out
	b.written.wrote(b.key, b.decoded.UID, "jobs", out.ResourceVersion)
	return nil
}
