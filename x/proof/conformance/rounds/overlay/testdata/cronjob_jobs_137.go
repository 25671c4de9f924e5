package cronjob

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

func (jm *ControllerV2) keep(jobs []*batchv1.Job) { jm.jobIndexer = cachedJobs{jobs: jobs} }

// cachedJobs is a cache of jobs, with the controller's only index: by the UID of a job's
// controller.
type cachedJobs struct {
	cache.Indexer
	jobs []*batchv1.Job
}

func (c cachedJobs) ByIndex(_, uid string) (out []any, _ error) {
	for _, j := range c.jobs {
		if ref := metav1.GetControllerOf(j); ref != nil && string(ref.UID) == uid {
			out = append(out, j)
		}
	}
	return out, nil
}
