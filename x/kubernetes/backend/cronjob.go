package backend

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// Object is an object of any kind.
type Object interface {
	runtime.Object
	metav1.Object
}

// ParentClient reads parents and writes their statuses. Parents are objects of one kind, in one
// namespace, that start other objects on a schedule. The typed clients of client-go are such
// clients.
type ParentClient[P Object] interface {
	Get(ctx context.Context, name string, o metav1.GetOptions) (P, error)
	UpdateStatus(ctx context.Context, object P, o metav1.UpdateOptions) (P, error)
}

// OwnerClient reads and writes objects that own pods, of one kind and in one namespace. The typed
// clients of client-go are such clients.
type OwnerClient[T Object] interface {
	ParentClient[T]
	Patch(
		ctx context.Context, name string, t types.PatchType, patch []byte, o metav1.PatchOptions,
		subresources ...string,
	) (T, error)
	Delete(ctx context.Context, name string, o metav1.DeleteOptions) error
}

// ChildClient reads, creates and deletes the children of parents.
type ChildClient[C Object] interface {
	Get(ctx context.Context, name string, o metav1.GetOptions) (C, error)
	Create(ctx context.Context, object C, o metav1.CreateOptions) (C, error)
	Delete(ctx context.Context, name string, o metav1.DeleteOptions) error
}

var _ cronjobapply.Backend = (*CronJob)(nil)

// CronJob carries out the plan of one round of a CronJob of batch/v1.
type CronJob = Cron[*batchv1.CronJob, *batchv1.Job]

// Cron carries out the plan of one round of a parent. Parents and children can be of any kind.
type Cron[P, C Object] struct {
	// Parents and Children are the clients of the parent's namespace.
	Parents  ParentClient[P]
	Children ChildClient[C]
	// Kind is the kind of the children.
	Kind schema.GroupVersionKind
	// New returns the child to create, with all of its fields. SetStatus sets the status of the
	// parent that it gets, which is a copy. Owner returns the UID of a child's parent.
	New       func(P, *cronjob.Creation) C
	SetStatus func(P, cronjob.Status)
	Owner     func(C) types.UID
	// Object is the parent that was planned. WriteStatus replaces it with the parent that the
	// server returns, and does not change the earlier object.
	Object P
	// Wrote, if set, receives the parent after a write of its status.
	Wrote func(P)
}

// NewCronJob returns the backend of one round.
func NewCronJob(client kubernetes.Interface, object *batchv1.CronJob) *CronJob {
	return &CronJob{
		Children:  client.BatchV1().Jobs(object.Namespace),
		Parents:   client.BatchV1().CronJobs(object.Namespace),
		Kind:      batchv1.SchemeGroupVersion.WithKind("Job"),
		New:       convert.NewJob,
		SetStatus: func(o *batchv1.CronJob, s cronjob.Status) { o.Status = convert.CronJobStatus(s) },
		Owner:     ControllerOf[*batchv1.Job],
		Object:    object,
	}
}

// ControllerOf returns the UID of an object's controller, or "".
func ControllerOf[C Object](o C) types.UID {
	if ref := metav1.GetControllerOf(o); ref != nil {
		return ref.UID
	}
	return ""
}

// Get reads a child from the server. A stored status may lack the name of a child; Get then returns
// ErrGone.
func (b *Cron[P, C]) Get(ctx context.Context, name string) (cronjobapply.Job, error) {
	if name == "" {
		return cronjobapply.Job{}, cronjobapply.ErrGone
	}

	out, err := b.Children.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return cronjobapply.Job{}, cronjobapply.ErrGone
	case err != nil:
		return cronjobapply.Job{}, err
	}
	return b.describe(out), nil
}

func (b *Cron[P, C]) describe(o C) cronjobapply.Job {
	return cronjobapply.Job{
		Reference: cronjob.Reference{
			Kind:            b.Kind.Kind,
			APIVersion:      b.Kind.GroupVersion().String(),
			Namespace:       o.GetNamespace(),
			Name:            o.GetName(),
			UID:             job.UID(o.GetUID()),
			ResourceVersion: o.GetResourceVersion(),
		},
		Controller:        job.UID(b.Owner(o)),
		CreationTimestamp: o.GetCreationTimestamp().Time,
	}
}

// Delete deletes the child. The garbage collector deletes what the child owns.
func (b *Cron[P, C]) Delete(ctx context.Context, d cronjob.Deletion) error {
	policy := metav1.DeletePropagationBackground
	if d.Foreground {
		policy = metav1.DeletePropagationForeground
	}
	uid := types.UID(d.UID)
	err := b.Children.Delete(ctx, d.Name, metav1.DeleteOptions{
		PropagationPolicy: &policy,
		Preconditions:     &metav1.Preconditions{UID: &uid},
	})
	if isGone(err) {
		return cronjobapply.ErrGone
	}
	return err
}

// Create creates the child of a creation.
func (b *Cron[P, C]) Create(ctx context.Context, c cronjob.Creation) (cronjobapply.Job, error) {
	out, err := b.Children.Create(ctx, b.New(b.Object, &c), metav1.CreateOptions{})
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return cronjobapply.Job{}, cronjobapply.ErrNamespaceTerminating
	case apierrors.IsAlreadyExists(err):
		return cronjobapply.Job{}, cronjobapply.ErrExists
	case err != nil:
		return cronjobapply.Job{}, err
	}
	return b.describe(out), nil
}

// WriteStatus replaces the status if the parent still has the version of Object.
func (b *Cron[P, C]) WriteStatus(ctx context.Context, s cronjob.Status) error {
	object := b.Object.DeepCopyObject().(P)
	b.SetStatus(object, s)
	out, err := b.Parents.UpdateStatus(ctx, object, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	b.Object = out
	if b.Wrote != nil {
		b.Wrote(out)
	}
	return nil
}
