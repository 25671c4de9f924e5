package backend

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedbatch "k8s.io/client-go/kubernetes/typed/batch/v1"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

var _ jobapply.Adopter = (*Job)(nil)

// Job carries out the plan of one round of a job.
type Job struct {
	*Pods
	// Client is the client of the job's namespace.
	Client typedbatch.JobInterface
	// Object is the job that was planned. WriteStatus replaces it with the job that the server
	// returns, and does not change the earlier object.
	Object *batchv1.Job
	// WroteJob, if set, receives the job after a write of its status.
	WroteJob func(*batchv1.Job)
}

// NewJob returns the backend of one round.
func NewJob(client kubernetes.Interface, object *batchv1.Job) *Job {
	jobs := client.BatchV1().Jobs(object.Namespace)
	return &Job{
		Pods: &Pods{
			Client:    client.CoreV1().Pods(object.Namespace),
			Namespace: object.Namespace,
			Owner:     *metav1.NewControllerRef(object, batchv1.SchemeGroupVersion.WithKind("Job")),
			Template:  &object.Spec.Template,
			Fresh: func(ctx context.Context) (metav1.Object, error) {
				return jobs.Get(ctx, object.Name, metav1.GetOptions{})
			},
		},
		Client: jobs,
		Object: object,
	}
}

// WriteStatus replaces the status if the job still has the version of Object.
func (b *Job) WriteStatus(ctx context.Context, s job.Status) error {
	object := *b.Object
	object.Status = convert.JobStatus(s)
	out, err := b.Client.UpdateStatus(ctx, &object, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	b.Object = out
	if b.WroteJob != nil {
		b.WroteJob(out)
	}
	return nil
}
