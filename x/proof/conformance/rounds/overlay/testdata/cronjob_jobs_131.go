package cronjob

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/labels"
	batchlisters "k8s.io/client-go/listers/batch/v1"
)

func (jm *ControllerV2) keep(jobs []*batchv1.Job) { jm.jobLister = cachedJobs{jobs: jobs} }

// cachedJobs is a cache of jobs, listed by namespace.
type cachedJobs struct {
	batchlisters.JobLister
	batchlisters.JobNamespaceLister
	jobs      []*batchv1.Job
	namespace string
}

func (c cachedJobs) Jobs(namespace string) batchlisters.JobNamespaceLister {
	return cachedJobs{jobs: c.jobs, namespace: namespace}
}

func (c cachedJobs) List(labels.Selector) (out []*batchv1.Job, _ error) {
	for _, j := range c.jobs {
		if j.Namespace == c.namespace {
			out = append(out, j)
		}
	}
	return out, nil
}
