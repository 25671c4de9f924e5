package convert

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// PodCache converts each version of a pod once for a job, and not once a round. The zero
// value is ready; a PodCache must not be copied, and is for objects of one kind. Different jobs may
// be looked up at the same time, each by one goroutine, which is how a controller runs its rounds.
//
// A pod that a round no longer lists leaves the cache in that round, and so do all pods of a job
// that was created again under its name. So nothing has to watch for deletions, and a round that is
// late cannot bring back a pod that is gone.
type PodCache struct {
	mu   sync.Mutex
	jobs map[types.NamespacedName]*cachedPods
}

type cachedPods struct {
	of      job.UID
	round   uint64
	decided int64 // the version of the job for which the owners are right
	pods    map[types.UID]*cachedPod
}

type cachedPod struct {
	version string
	round   uint64 // the last one that listed the pod
	pod     job.Pod
}

// Append appends the value of each pod to dst, in order, and returns the extended slice.
// The list must be complete: all pods that could be the job's. Pods that are Foreign to the
// job are left out, and are not kept. What a pod is to the job is decided again when the version of
// either has changed.
func (c *PodCache) Append(dst []job.Pod, of *job.Job, list []*corev1.Pod) []job.Pod {
	known := c.of(of)
	known.round++
	decided := of.Version != 0 && of.Version == known.decided
	known.decided = of.Version

	kept := 0
	for _, o := range list {
		entry := known.get(of, o, decided)
		if entry == nil {
			continue
		}
		if entry.round != known.round {
			entry.round = known.round
			kept++
		}
		dst = append(dst, entry.pod)
	}

	known.sweep(kept)
	return dst
}

// Forget drops the pods of the job of that name. Call it when the job is gone or needs no more rounds.
func (c *PodCache) Forget(name types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.jobs, name)
}

// Len returns the number of pods in the cache. No round may be under way.
func (c *PodCache) Len() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, known := range c.jobs {
		n += len(known.pods)
	}
	return n
}

func (c *PodCache) of(j *job.Job) *cachedPods {
	name := types.NamespacedName{Namespace: j.Namespace, Name: j.Name}
	c.mu.Lock()
	defer c.mu.Unlock()

	known := c.jobs[name]
	if known == nil || known.of != j.UID {
		known = &cachedPods{of: j.UID, pods: make(map[types.UID]*cachedPod)}
		if c.jobs == nil {
			c.jobs = make(map[types.NamespacedName]*cachedPods)
		}
		c.jobs[name] = known
	}
	return known
}

// get returns the entry of the pod in the version that it has now, or nil if the pod is Foreign. A
// pod without a version, as tests make them, is converted each time.
func (k *cachedPods) get(of *job.Job, o *corev1.Pod, decided bool) *cachedPod {
	entry := k.pods[o.UID]
	current := entry != nil && entry.version == o.ResourceVersion && o.ResourceVersion != ""
	if current && decided {
		return entry
	}

	owner := owner(of, o)
	if owner == jobpod.Foreign {
		return nil
	}
	if entry == nil {
		entry = &cachedPod{}
		k.pods[o.UID] = entry
	}

	if !current {
		entry.version, entry.pod = o.ResourceVersion, podOfAny(o)
	}
	entry.pod.Owner = owner
	return entry
}

// sweep drops the pods that the round has not listed. In a round that has listed all that
// are known there is nothing to look for.
func (k *cachedPods) sweep(kept int) {
	if kept == len(k.pods) {
		return
	}
	for uid, entry := range k.pods {
		if entry.round != k.round {
			delete(k.pods, uid)
		}
	}
}
