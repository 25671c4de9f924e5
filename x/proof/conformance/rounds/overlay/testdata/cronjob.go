package cronjob

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/kubernetes"
	batchlisters "k8s.io/client-go/listers/batch/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/controller/cronjob/metrics"
)

// Round is a controller for single rounds: nothing is started.
type Round struct{ c *ControllerV2 }

// NewRound makes the controller for one round. The jobs are those of its cache, in the order in
// which the cache lists them.
func NewRound(client kubernetes.Interface, recorder record.EventRecorder, jobs []*batchv1.Job, cronJobs batchlisters.CronJobLister) *Round {
	metrics.Register()
	c := &ControllerV2{
		kubeClient:     client,
		recorder:       recorder,
		jobControl:     realJobControl{KubeClient: client, Recorder: recorder},
		cronJobControl: &realCJControl{KubeClient: client},
		cronJobLister:  cronJobs,
		now:            time.Now,
	}
	c.keep(jobs)
	return &Round{c}
}

// Sync plays one round. It returns when to look again, or nil, and why the round has failed.
func (r *Round) Sync(ctx context.Context, key string) (*time.Duration, error) {
	return r.c.sync(ctx, key)
}
