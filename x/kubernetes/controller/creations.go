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

// creations holds, for each job, the pods that this process has created and whose end it has not
// seen. It limits the damage if snapshots lack pods by mistake: without it, the planner would
// replace those pods in each round.
//
// The pods are looked up in the cache by name, whereas snapshots are made with an index. A pod that
// is not in the cache is gone, or has not arrived yet; expectations cover pods that have not
// arrived.
type creations struct {
	mu    sync.Mutex
	byJob map[types.NamespacedName]*created
}

// created are the pods of one job.
type created struct {
	uid  types.UID // of the job
	pods map[job.UID]creation
}

// creation is the name of a pod, and when it was created.
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

// active returns the pods of a job that are active in the cache. The function at finds a pod of the
// cache by its name. active drops the other pods, except those that may still arrive in the cache.
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

// isActive reports whether a pod belongs to that owner, has not ended and is not being deleted.
func isActive(pod *corev1.Pod, owner types.UID) bool {
	ref := metav1.GetControllerOfNoCopy(pod)
	isOwned := ref != nil && ref.UID == owner
	return isOwned && pod.DeletionTimestamp == nil && !hasEnded(pod)
}

// checkCreations returns an error if, after the plan, more of the job's pods would run than its
// parallelism allows. No plan from a complete snapshot leads to that (JI10), so the snapshot lacks
// pods.
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
