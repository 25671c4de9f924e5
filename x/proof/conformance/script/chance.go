package script

import (
	"maps"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
)

// chances notes events after which the two sides may differ. Each has a line in the comment of
// package conformance. It is locked, since controllers write concurrently.
type chances struct {
	mu sync.Mutex
	// blindCronJob, blindJob: a read of the CronJob or of a job was refused. blindJob is also set
	// if runs replace each other and a job to read was gone.
	blindCronJob, blindJob bool
	// leftBehind: a pod whose job was deleted kept its finalizer.
	leftBehind bool
	// unseen: the finalizer of a pod was removed, either before the pod was deleted or together
	// with it, and a cache may still show it.
	unseen bool
	// raced: an orphan was adopted and lost its finalizer in one instant.
	raced bool
	// again: a run has started three times.
	again bool
	// turned: a pod that is recorded as failed has succeeded (J8).
	turned bool
	// unordered: several failed pods of an index have the finalizer, and the order of a cache
	// decides which of them counts (J17).
	unordered bool

	failed  failedPods
	orphans map[string]time.Time
	runs    map[string]int
}

// IsLeftToChance reports whether chance may explain a difference that was just seen. The script
// then ends. The comment of package conformance lists the cases.
func (w *World) IsLeftToChance(s *Script) bool {
	c := &w.chances
	c.mu.Lock()
	defer c.mu.Unlock()
	// The real controller reads the CronJob when it meets a job that the status does not name, and
	// stops if the read is refused. Which jobs it has handled by then depends on the order of its
	// cache.
	switch {
	case c.blindCronJob && len(server.List[*batchv1.Job](w.Server)) > 1,
		c.blindJob && s.CronJob != nil,
		c.unseen && s.Stale:
		return true
	case c.leftBehind, c.raced, c.again, c.turned, c.unordered:
		return true
	}
	return false
}

// HasTenantsJob reports whether a job of another namespace names the CronJob as its controller.
// From 1.37 on, the real controller takes it for a job of the CronJob.
func (w *World) HasTenantsJob() bool {
	return slices.ContainsFunc(server.List[*batchv1.Job](w.Server), func(j *batchv1.Job) bool {
		owner := metav1.GetControllerOf(j)
		return j.Namespace == elsewhere && owner != nil && owner.Kind == "CronJob"
	})
}

// note looks at a request before it is answered; refused is set if a fault hits it.
func (c *chances) note(w *World, write server.Write, refused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch write.Verb + " " + write.Resource {
	case "get " + server.CronJobs:
		c.blindCronJob = c.blindCronJob || refused
	case "get " + server.Jobs:
		isGone := server.Get[*batchv1.Job](w.Server, Namespace, write.Name) == nil
		if refused || isGone && replaces(w) {
			c.blindJob = true
		}
	case "create " + server.Jobs:
		if c.runs == nil {
			c.runs = map[string]int{}
		}
		if !refused {
			c.runs[write.Name]++
		}
		c.again = c.again || c.runs[write.Name] > 2
	case "create " + server.Pods:
		c.noteUnordered(w)
	case "delete " + server.Pods:
		pod := server.Get[*corev1.Pod](w.Server, Namespace, write.Name)
		c.unseen = c.unseen || pod == nil || !isTracked(pod)
	case "patch " + server.Pods:
		c.notePatch(w, write, refused)
		c.noteUnordered(w)
	}
}

func (c *chances) notePatch(w *World, write server.Write, refused bool) {
	pod := server.Get[*corev1.Pod](w.Server, Namespace, write.Name)
	if pod == nil {
		c.unseen = true
		return
	}
	owner := metav1.GetControllerOf(pod)
	jobs := server.List[*batchv1.Job](w.Server)
	at := slices.IndexFunc(jobs, func(j *batchv1.Job) bool { return owner != nil && j.UID == owner.UID })
	if at < 0 {
		c.leftBehind = c.leftBehind || refused
	} else if u := jobs[at].Status.UncountedTerminatedPods; u != nil && pod.Status.Phase == corev1.PodSucceeded {
		c.turned = c.turned || slices.Contains(u.Failed, pod.UID)
	}
	if owner == nil {
		if c.orphans == nil {
			c.orphans = map[string]time.Time{}
		}
		c.raced = c.raced || time.Since(c.orphans[write.Name]) < 100*time.Millisecond
		c.orphans[write.Name] = time.Now()
	}
}

func (c *chances) noteUnordered(w *World) {
	if !c.unordered {
		c.failed.follow(w.Server)
		c.unordered = slices.ContainsFunc(server.List[*batchv1.Job](w.Server), c.failed.areUnordered)
	}
}

// failedPods holds the pods that have the finalizer and may have failed.
type failedPods struct {
	revision int64             // the last revision of the server that was seen
	indexes  map[string]string // by namespace and name
	pods     map[string]map[string]*corev1.Pod
}

// follow brings the pods up to date with the server. The controllers may write to many pods in a
// round, so it reads only what has changed.
func (f *failedPods) follow(s *server.Server) {
	if f.pods == nil {
		f.indexes, f.pods = map[string]string{}, map[string]map[string]*corev1.Pod{}
	}
	f.revision = server.Changes(s, f.revision, func(p *corev1.Pod, isDeleted bool) {
		key := p.Namespace + "/" + p.Name
		delete(f.pods[f.indexes[key]], key)
		mayHaveFailed := p.Status.Phase == corev1.PodFailed || p.DeletionTimestamp != nil
		if isDeleted || !mayHaveFailed || !isTracked(p) {
			return
		}

		index := p.Annotations[job.IndexLabel]
		if f.indexes[key] = index; f.pods[index] == nil {
			f.pods[index] = map[string]*corev1.Pod{}
		}
		f.pods[index][key] = p
	})
}

// areUnordered reports whether the real controller chooses one of the failed pods of an index by
// the order of its cache. It does so between two pods with the finalizer if one has more failures
// before it and the other has finished later, or if the two are equal in both respects.
func (f *failedPods) areUnordered(o *batchv1.Job) bool {
	if o.Spec.BackoffLimitPerIndex == nil {
		return false
	}
	s := job.Snapshot{Job: convert.Job(o), Now: time.Now()}
	for _, pods := range f.pods {
		if len(pods) < 2 {
			continue
		}

		s.Pods = s.Pods[:0]
		for _, key := range slices.Sorted(maps.Keys(pods)) {
			s.Pods = append(s.Pods, convert.Pod(&s.Job, pods[key]))
		}
		if found, err := job.Inspect(s); err == nil && isUnordered(s.Pods, found.Pods) {
			return true
		}
	}
	return false
}

func isUnordered(pods []job.Pod, found []job.PodInspection) bool {
	failures := func(i int) int32 { return pods[i].Detail.FailureCount + pods[i].Detail.IgnoredFailureCount }
	precedes := func(a, b int) bool {
		return failures(a) <= failures(b) && !found[b].FinishTime.Before(found[a].FinishTime)
	}
	for a := range pods {
		for b := range pods[:a] {
			if found[a].Failed && found[b].Failed && precedes(a, b) == precedes(b, a) {
				return true
			}
		}
	}
	return false
}

// replaces reports whether there is a CronJob whose runs replace each other.
func replaces(w *World) bool {
	return slices.ContainsFunc(server.List[*batchv1.CronJob](w.Server), func(c *batchv1.CronJob) bool {
		return c.Spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent
	})
}

func isTracked(p *corev1.Pod) bool { return slices.Contains(p.Finalizers, job.Finalizer) }
