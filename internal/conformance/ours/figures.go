package ours

import (
	"maps"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchplan/batchplan/internal/conformance/series"
	"github.com/batchplan/batchplan/job"
)

// Figures are the counters that Kubernetes exports. They come from the metrics of each
// round, and from what only an adapter sees. The zero value is ready.
type Figures struct {
	mu     sync.Mutex
	counts series.Counts
}

// Counts returns the counters so far.
func (f *Figures) Counts() series.Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.counts)
}

// add adds counts. Nil figures count nothing.
func (f *Figures) add(counts series.Counts) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts == nil {
		f.counts = series.Counts{}
	}
	f.counts.Add(counts)
}

// foreign counts a job of another controller that the adapter sees for the first time.
func (f *Figures) foreign(j *batchv1.Job) {
	if by := j.Spec.ManagedBy; by != nil && *by != job.ControllerName {
		f.add(series.External(*by))
	}
}

// pod counts pods that finish with the finalizer, and those that lose it, as watches
// show them. Nil is a pod that is not there yet, or no longer.
func (f *Figures) pod(old, cur *corev1.Pod) {
	if event := job.TrackingEvent(tracking(old), tracking(cur)); event != "" {
		f.add(series.Tracking(event))
	}
}

// tracking is what [job.TrackingEvent] reads of a pod.
func tracking(p *corev1.Pod) *job.Pod {
	if p == nil {
		return nil
	}
	out := &job.Pod{Untracked: !hasFinalizer(p)}
	switch p.Status.Phase {
	case corev1.PodSucceeded:
		out.Phase = job.PodSucceeded
	case corev1.PodFailed:
		out.Phase = job.PodFailed
	}
	return out
}
