package ours

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
)

// cronBackend carries out the plan of one round on the API server.
type cronBackend struct {
	*cronJobs
	object  *batchv1.CronJob
	written *batchv1.CronJob
}

// Get reads a job.
func (b *cronBackend) Get(ctx context.Context, name string) (cronjobapply.Job, error) {
	j, err := b.client.BatchV1().Jobs(b.object.Namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return cronjobapply.Job{}, cronjobapply.ErrGone
	case err != nil:
		return cronjobapply.Job{}, err
	}
	return describe(j), nil
}

func describe(j *batchv1.Job) cronjobapply.Job {
	out := cronjobapply.Job{
		Reference: cronjob.Reference{
			Kind: "Job", APIVersion: "batch/v1", Namespace: j.Namespace, Name: j.Name, UID: string(j.UID),
			ResourceVersion: j.ResourceVersion,
		},
		CreationTimestamp: j.CreationTimestamp.Time,
	}
	if ref := metav1.GetControllerOf(j); ref != nil {
		out.Controller = string(ref.UID)
	}
	return out
}

// Delete deletes a job with its pods.
func (b *cronBackend) Delete(ctx context.Context, d cronjob.Deletion) error {
	if b.options.LiveReads && d.Reason == cronjob.DeleteReplaced {
		if _, err := b.Get(ctx, d.Name); err != nil {
			return err
		}
	}
	policy := metav1.DeletePropagationBackground
	if d.Foreground {
		policy = metav1.DeletePropagationForeground
	}
	err := b.client.BatchV1().Jobs(b.object.Namespace).Delete(ctx, d.Name, metav1.DeleteOptions{PropagationPolicy: &policy})
	if apierrors.IsNotFound(err) && b.options.CronJob.Quirks == 0 {
		return cronjobapply.ErrGone // a failure for theirs, which reports and retries it
	}
	return err
}

// Create makes the job from the template.
func (b *cronBackend) Create(ctx context.Context, c cronjob.Creation) (cronjobapply.Job, error) {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: c.Name, Namespace: b.object.Namespace, Labels: c.Labels, Annotations: c.Annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(b.object, batchv1.SchemeGroupVersion.WithKind("CronJob"))},
		},
		Spec: *b.object.Spec.JobTemplate.Spec.DeepCopy(),
	}
	out, err := b.client.BatchV1().Jobs(b.object.Namespace).Create(ctx, j, metav1.CreateOptions{})
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

// WriteStatus writes on the version of the snapshot.
func (b *cronBackend) WriteStatus(ctx context.Context, s cronjob.Status) error {
	object := b.object.DeepCopy()
	object.Status = encodeCronJobStatus(s)
	out, err := b.client.BatchV1().CronJobs(object.Namespace).UpdateStatus(ctx, object, metav1.UpdateOptions{})
	if err == nil {
		b.written = out
	}
	return err
}
