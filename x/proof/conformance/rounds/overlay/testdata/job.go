package job

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/kubernetes"
	batchlisters "k8s.io/client-go/listers/batch/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/job/metrics"
	"k8s.io/utils/clock"
)

// Round is a controller for single rounds: nothing is started, and what it keeps
// in memory can be set and read.
type Round struct{ c *Controller }

// NewRound makes the controller for one round. The indexer holds the pods.
func NewRound(client kubernetes.Interface, recorder record.EventRecorder, queue workqueue.TypedRateLimitingInterface[string], jobs batchlisters.JobLister, pods cache.Indexer) *Round {
	metrics.Register()
	c := &Controller{
		kubeClient:            client,
		podControl:            controller.RealPodControl{KubeClient: client, Recorder: recorder},
		expectations:          controller.NewControllerExpectations(),
		finalizerExpectations: newUIDTrackingExpectations(),
		jobLister:             jobs,
		queue:                 queue,
		recorder:              recorder,
		clock:                 clock.RealClock{},
		podBackoffStore:       newBackoffStore(),
	}
	c.keep(pods)
	c.updateStatusHandler = func(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
		return c.updateJobStatus(ctx, job)
	}
	c.syncHandler = c.syncJob
	return &Round{c}
}

// Sync plays one round.
func (r *Round) Sync(ctx context.Context, key string) error { return r.c.syncHandler(ctx, key) }

// Expect records creations and deletions as not yet seen.
func (r *Round) Expect(key string, creations, deletions int) error {
	return r.c.expectations.SetExpectations(klog.Background(), key, creations, deletions)
}

// Expected returns the creations and deletions not yet seen.
func (r *Round) Expected(key string) (creations, deletions int64, satisfied bool) {
	e, ok, _ := r.c.expectations.GetExpectations(key)
	if !ok {
		return 0, 0, true
	}
	creations, deletions = e.GetExpectations()
	return creations, deletions, r.c.expectations.SatisfiedExpectations(klog.Background(), key)
}

// SetBackoff sets the record of failures.
func (r *Round) SetBackoff(key string, failures int32, last *time.Time) error {
	return r.c.podBackoffStore.updateBackoffRecord(backoffRecord{key: key, failuresAfterLastSuccess: failures, lastFailureTime: last})
}

// Backoff returns the record of failures, if there is one.
func (r *Round) Backoff(key string) (failures int32, last *time.Time, ok bool) {
	record, ok, _ := r.c.podBackoffStore.store.GetByKey(key)
	if !ok {
		return 0, nil, false
	}
	b := record.(*backoffRecord)
	return b.failuresAfterLastSuccess, b.lastFailureTime, true
}
