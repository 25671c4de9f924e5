package convert

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// PodCache converts each version of a pod once for a job, instead of once a round. The zero value
// is ready to use. A PodCache must not be copied, and is for objects of one kind. It may be used
// concurrently for different jobs, but not for the same job.
//
// Each round drops the pods that it does not list, and all pods of an earlier job of the same name.
// So nothing has to watch for deletions, and a late round cannot bring back a pod that is gone.
type PodCache struct {
	mu   sync.Mutex
	jobs map[types.NamespacedName]*cachedPods
}

type cachedPods struct {
	of      job.UID
	round   uint64
	decided int64 // the version of the job that the owners were decided for
	pods    map[types.UID]*cachedPod
}

type cachedPod struct {
	version string
	round   uint64 // the last one that listed the pod
	pod     job.Pod
}

// Append appends the value of each pod to dst, in order, and returns the extended slice. The list
// must hold all pods that could belong to the job. Foreign pods are left out and not kept. The
// Owner of a pod is decided again when the version of the pod or of the job has changed.
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

// Len returns the number of pods in the cache. It must not be called during a round.
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

// get returns the entry of the pod's current version, or nil if the pod is Foreign. A pod without a
// version, as in tests, is converted each time.
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

// sweep drops the pods that the round has not listed. kept is the number of listed pods.
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
