package controller

import (
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// creations are the pods that this process has created for each job and not seen end. They limit the
// damage of a snapshot that leaves pods out: the planner replaces pods that it is not shown, in each
// round.
//
// They are compared with the cache by name, and so in another way than snapshots are made.
// A pod that the cache does not have is gone, or not there yet, which expectations are for.
type creations struct {
	mu    sync.Mutex
	byJob map[types.NamespacedName]*created
}

// created are the pods of one job.
type created struct {
	uid  types.UID // of the job
	pods map[job.UID]creation
}

// creation is when a pod was created, and its name.
type creation struct {
	name string
	at   time.Time
}

func (c *creations) add(key types.NamespacedName, uid types.UID, pod job.PodRef, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()

	of := c.byJob[key]
	if of == nil || of.uid != uid {
		if c.byJob == nil {
			c.byJob = map[types.NamespacedName]*created{}
		}
		of = &created{uid: uid, pods: map[job.UID]creation{}}
		c.byJob[key] = of
	}
	of.pods[pod.UID] = creation{pod.Name, at}
}

// forget drops the pods of a job that has ended or is gone.
func (c *creations) forget(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byJob, key)
}

// active returns the pods of a job that still run by the cache, which at looks up, and drops the
// others, except those that may still come into the cache.
func (c *creations) active(
	key types.NamespacedName, uid types.UID, at func(name string) *corev1.Pod, now time.Time,
) map[job.UID]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.byJob[key]
	if of == nil || of.uid != uid {
		return nil
	}

	active := make(map[job.UID]bool, len(of.pods))
	for podUID, p := range of.pods {
		pod := at(p.name)
		switch {
		case pod == nil && now.Sub(p.at) < expectations.Timeout:
		case pod == nil || pod.UID != types.UID(podUID) || !isActive(pod, uid):
			delete(of.pods, podUID)
		default:
			active[podUID] = true
		}
	}
	return active
}

// isActive reports whether a pod of that owner has neither ended nor begins to.
func isActive(pod *corev1.Pod, owner types.UID) bool {
	ref := metav1.GetControllerOfNoCopy(pod)
	isOwned := ref != nil && ref.UID == owner
	hasEnded := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	return isOwned && pod.DeletionTimestamp == nil && !hasEnded
}

// checkCreations refuses a plan with which more pods of the job's own would run than its parallelism.
// No plan from a whole snapshot leads there (JI10), so this one was made without some of the pods.
func (c *Jobs) checkCreations(key types.NamespacedName, s *job.Snapshot, plan *job.Plan) error {
	if len(plan.Create) == 0 {
		return nil
	}

	at := func(name string) *corev1.Pod {
		return c.podAt(types.NamespacedName{Namespace: s.Job.Namespace, Name: name})
	}
	active := c.created.active(key, types.UID(s.Job.UID), at, s.Now)
	for i := range plan.Delete {
		delete(active, plan.Delete[i].UID)
	}
	for _, ref := range plan.Release {
		delete(active, ref.UID)
	}

	running, limit := len(active), int(*s.Job.Spec.Parallelism)
	if running+len(plan.Create) <= limit {
		return nil
	}

	for i := range s.Pods {
		delete(active, s.Pods[i].UID)
	}
	return fmt.Errorf("%s not created: this controller has created %s that the cache shows active, "+
		"parallelism is %d, and the round was planned without %d of them",
		value.Count(int64(len(plan.Create)), "pod"), value.Count(int64(running), "pod"), limit, len(active))
}
