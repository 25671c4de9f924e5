package convert_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/intact"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

var public = intact.Functions{
	Of: []any{
		convert.Job, convert.JobOf, convert.IsFinished, convert.CronJob, convert.Parent, convert.Child, convert.ChildOf, convert.Ending, convert.Pod, convert.IsTracked,
		convert.JobStatus, convert.CronJobStatus, convert.ValidateUpdate,
		convert.NewPod, convert.NewJob,
	},
	Writes: map[string]int{"Ending": 1},
	Shares: map[string]string{ // pointers and maps of the object: see the comment of the package
		"Job": "*", "JobOf": "*", "Pod": "*", "CronJob": "*", "JobStatus": "*",
	},
	Skip: []string{
		"Lean", "Trim", // change what a client has just decoded
		"Parent",   // holds its argument status
		"PodCache", // keeps what it has converted
	},
}

// FuzzNothingIsShared: no function changes its arguments, which may be in a cache, and the built
// objects share no memory with them.
func FuzzNothingIsShared(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var o struct {
			Pod     corev1.Pod
			Job     batchv1.Job
			CronJob batchv1.CronJob
			Owner   metav1.OwnerReference
			Create  job.Creation
			Start   cronjob.Creation
		}
		fill(data, &o)
		var pool intact.Pool
		pool.Add(o.Job, o.CronJob, o.Pod, o.Owner, corev1.PodTemplateSpec{ObjectMeta: o.Pod.ObjectMeta, Spec: o.Pod.Spec}, o.Create, o.Start)
		pool.Add(convert.Job(&o.Job), convert.CronJob(&o.CronJob), []*batchv1.JobStatus{&o.Job.Status}, release.V136(), cronjob.Options{}, job.Verdict{})
		public.Check(t, &pool)
	})
	public.AllCalled(f)
}
