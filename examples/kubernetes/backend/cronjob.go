package backend

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedbatch "k8s.io/client-go/kubernetes/typed/batch/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/examples/kubernetes/convert"
	"github.com/batchplan/batchplan/job"
)

var _ cronjobapply.Backend = (*CronJob)(nil)

// CronJob carries out the plan of one round of a CronJob.
type CronJob struct {
	// Jobs and CronJobs are the clients of the CronJob's namespace.
	Jobs     typedbatch.JobInterface
	CronJobs typedbatch.CronJobInterface
	// Object is the CronJob as the plan saw it, and after WriteStatus as that left it. The
	// object itself is never written to.
	Object *batchv1.CronJob
	// Wrote, if set, is told of the CronJob as a write of its status left it.
	Wrote func(*batchv1.CronJob)
}

// NewCronJob returns the backend of one round.
func NewCronJob(client kubernetes.Interface, object *batchv1.CronJob) *CronJob {
	return &CronJob{
		Jobs:     client.BatchV1().Jobs(object.Namespace),
		CronJobs: client.BatchV1().CronJobs(object.Namespace),
		Object:   object,
	}
}

// Get reads a job from the server. None is without a name, which a stored status may not have.
func (b *CronJob) Get(ctx context.Context, name string) (cronjobapply.Job, error) {
	if name == "" {
		return cronjobapply.Job{}, cronjobapply.ErrGone
	}
	out, err := b.Jobs.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return cronjobapply.Job{}, cronjobapply.ErrGone
	case err != nil:
		return cronjobapply.Job{}, err
	}
	return describe(out), nil
}

func describe(o *batchv1.Job) cronjobapply.Job {
	out := cronjobapply.Job{
		Reference: cronjob.Reference{
			Kind: "Job", APIVersion: "batch/v1", Namespace: o.Namespace, Name: o.Name, UID: job.UID(o.UID),
			ResourceVersion: o.ResourceVersion,
		},
		CreationTimestamp: o.CreationTimestamp.Time,
	}
	if ref := metav1.GetControllerOf(o); ref != nil {
		out.Controller = job.UID(ref.UID)
	}
	return out
}

// Delete deletes the job, and its pods through the garbage collector.
func (b *CronJob) Delete(ctx context.Context, d cronjob.Deletion) error {
	policy := metav1.DeletePropagationBackground
	if d.Foreground {
		policy = metav1.DeletePropagationForeground
	}
	uid := types.UID(d.UID)
	err := b.Jobs.Delete(ctx, d.Name, metav1.DeleteOptions{
		PropagationPolicy: &policy,
		Preconditions:     &metav1.Preconditions{UID: &uid},
	})
	if isGone(err) {
		return cronjobapply.ErrGone
	}
	return err
}

// Create creates the job of a creation from the template.
func (b *CronJob) Create(ctx context.Context, c cronjob.Creation) (cronjobapply.Job, error) {
	out, err := b.Jobs.Create(ctx, convert.NewJob(b.Object, &c), metav1.CreateOptions{})
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return cronjobapply.Job{}, cronjobapply.ErrNamespaceTerminating
	case apierrors.IsAlreadyExists(err):
		return cronjobapply.Job{}, cronjobapply.ErrExists
	case err != nil:
		return cronjobapply.Job{}, err
	}
	return describe(out), nil
}

// WriteStatus replaces the status, on condition of the version of Object.
func (b *CronJob) WriteStatus(ctx context.Context, s cronjob.Status) error {
	object := *b.Object
	object.Status = convert.CronJobStatus(s)
	out, err := b.CronJobs.UpdateStatus(ctx, &object, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	b.Object = out
	if b.Wrote != nil {
		b.Wrote(out)
	}
	return nil
}
