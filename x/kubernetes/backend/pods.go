package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// Pods writes the pods of one owner of any kind in one round. It has the methods of
// [jobapply.Backend] except WriteStatus.
type Pods struct {
	// Client is the client of the owner's namespace.
	Client    typedcore.PodInterface
	Namespace string
	// Owner becomes the controller of each pod.
	Owner metav1.OwnerReference
	// Template is the template of the pods.
	Template *corev1.PodTemplateSpec
	// Fresh reads the owner from the server. It is called once, before the first adoption
	// of the round (J6).
	Fresh func(ctx context.Context) (metav1.Object, error)
	// Wrote, if set, receives each pod after a write. It is called concurrently.
	Wrote func(*corev1.Pod)

	once     sync.Once
	freshErr error
}

// Adopt makes the owner the pod's controller and adds the finalizer, if the owner exists and is not
// being deleted, and if the pod still has the version of the plan (J6). The server refuses the
// adoption of a pod that has another controller.
func (b *Pods) Adopt(ctx context.Context, pod job.Claim) error {
	b.once.Do(func() { b.freshErr = b.checkOwner(ctx) })
	if b.freshErr != nil {
		return b.freshErr
	}

	return b.patch(ctx, pod.PodRef, podPatch{
		ResourceVersion: pod.ResourceVersion,
		OwnerReferences: []any{b.Owner},
		Finalizers:      []string{job.Finalizer},
	})
}

func (b *Pods) checkOwner(ctx context.Context) error {
	fresh, err := b.Fresh(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("%s %q: %w", b.Owner.Kind, b.Owner.Name, err)
	case fresh.GetUID() != b.Owner.UID:
		return fmt.Errorf("%s %q has UID %q instead of %q", b.Owner.Kind, b.Owner.Name, fresh.GetUID(), b.Owner.UID)
	case fresh.GetDeletionTimestamp() != nil:
		return fmt.Errorf("%s %q is being deleted", b.Owner.Kind, b.Owner.Name)
	}
	return nil
}

// Release removes the owner's reference and the finalizer.
func (b *Pods) Release(ctx context.Context, pod job.Claim) error {
	return b.patch(ctx, pod.PodRef, podPatch{
		OwnerReferences: []any{map[string]any{"$patch": "delete", "uid": b.Owner.UID}},
		Removed:         []string{job.Finalizer},
	})
}

// Delete deletes the pod. With UntrackFirst, it first removes the finalizer if the version matches.
func (b *Pods) Delete(ctx context.Context, d job.Deletion) error {
	if d.UntrackFirst {
		err := b.patch(ctx, d.PodRef, podPatch{ResourceVersion: d.ResourceVersion, Removed: []string{job.Finalizer}})
		switch {
		case errors.Is(err, jobapply.ErrGone):
			return err
		case err != nil:
			return fmt.Errorf("%w: %w", jobapply.ErrStillTracked, err)
		}
	}

	uid := types.UID(d.UID)
	err := b.Client.Delete(ctx, d.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if isGone(err) {
		return jobapply.ErrGone
	}
	return err
}

// Create creates the pod of a creation from the template.
func (b *Pods) Create(ctx context.Context, c job.Creation) (job.PodRef, error) {
	out, err := b.Client.Create(ctx, convert.NewPod(b.Namespace, b.Owner, b.Template, &c), metav1.CreateOptions{})
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return job.PodRef{}, jobapply.ErrNamespaceTerminating
	case err != nil:
		return job.PodRef{}, err
	}

	b.wrote(out)
	return job.PodRef{Name: out.Name, UID: job.UID(out.UID)}, nil
}

// Untrack removes the finalizer.
func (b *Pods) Untrack(ctx context.Context, u job.Untracking) error {
	return b.patch(ctx, u.PodRef, podPatch{Removed: []string{job.Finalizer}})
}

// podPatch is a strategic merge patch of a pod's metadata.
type podPatch struct {
	UID             job.UID  `json:"uid"`
	ResourceVersion string   `json:"resourceVersion,omitempty"`
	OwnerReferences []any    `json:"ownerReferences,omitempty"`
	Finalizers      []string `json:"finalizers,omitempty"`
	Removed         []string `json:"$deleteFromPrimitiveList/finalizers,omitempty"`
}

// patch patches the pod. It returns [jobapply.ErrGone] if there is no pod with that UID.
func (b *Pods) patch(ctx context.Context, pod job.PodRef, p podPatch) error {
	p.UID = pod.UID
	data, err := json.Marshal(map[string]podPatch{"metadata": p})
	if err != nil {
		return err // unreachable
	}

	out, err := b.Client.Patch(ctx, pod.Name, types.StrategicMergePatchType, data, metav1.PatchOptions{})
	switch {
	case apierrors.IsNotFound(err), isOtherUID(err):
		return jobapply.ErrGone
	case err != nil:
		return err
	}
	b.wrote(out)
	return nil
}

func (b *Pods) wrote(pod *corev1.Pod) {
	if b.Wrote != nil {
		b.Wrote(pod)
	}
}
