package ours

import (
	"fmt"
	"maps"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// Figures are the counters that Kubernetes exports, by series: the name, then the
// labels in order. They come from the metrics of each round, and from what only an
// adapter sees. The zero value is ready.
type Figures struct {
	mu     sync.Mutex
	counts map[string]float64
}

// Counts returns the counters so far.
func (f *Figures) Counts() map[string]float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.counts)
}

// add adds to one series. Nil figures count nothing.
func (f *Figures) add(n float64, series string, labels ...any) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts == nil {
		f.counts = map[string]float64{}
	}
	f.counts[fmt.Sprintf(series, labels...)] += n
}

// job adds the metrics of a round of a job (J42).
func (f *Figures) job(metrics *job.Metrics) {
	mode, limit, result := metrics.CompletionMode, "global", "success"
	if metrics.PerIndex {
		limit = "perIndex"
	}
	if metrics.Failed {
		result = "error"
	}
	if metrics.Action != "" {
		f.add(1, "job_controller_job_syncs_total{action=%s,completion_mode=%s,result=%s}", metrics.Action, mode, result)
	}
	f.add(float64(metrics.PodsSucceeded), "job_controller_job_pods_finished_total{completion_mode=%s,result=succeeded}", mode)
	f.add(float64(metrics.PodsFailed), "job_controller_job_pods_finished_total{completion_mode=%s,result=failed}", mode)
	f.add(float64(metrics.IndexesSucceeded), "job_controller_job_finished_indexes_total{backoffLimit=%s,status=succeeded}", limit)
	f.add(float64(metrics.IndexesFailed), "job_controller_job_finished_indexes_total{backoffLimit=%s,status=failed}", limit)
	f.add(float64(metrics.PodsCreated), "job_controller_job_pods_creation_total{reason=%s,status=succeeded}", metrics.CreateReason.Metric())
	f.add(float64(metrics.PodsNotCreated), "job_controller_job_pods_creation_total{reason=%s,status=failed}", metrics.CreateReason.Metric())
	const policy = "job_controller_pod_failures_handled_by_failure_policy_total{action=%s}"
	f.add(float64(metrics.Policy.FailJob), policy, "FailJob")
	f.add(float64(metrics.Policy.FailIndex), policy, "FailIndex")
	f.add(float64(metrics.Policy.Ignore), policy, "Ignore")
	f.add(float64(metrics.Policy.Count), policy, "Count")
	switch metrics.Finished {
	case job.Complete:
		f.add(1, "job_controller_jobs_finished_total{completion_mode=%s,reason=%s,result=succeeded}", mode, metrics.FinishedReason)
	case job.Failed:
		f.add(1, "job_controller_jobs_finished_total{completion_mode=%s,reason=%s,result=failed}", mode, metrics.FinishedReason)
	}
}

// cronJob adds the metrics of a round of a CronJob (C16).
func (f *Figures) cronJob(metrics *cronjob.Metrics) {
	if metrics.Created == 0 {
		return
	}
	f.add(float64(metrics.Created), "cronjob_controller_job_creation_skew_duration_seconds{} count")
	f.add(metrics.CreationSkew.Seconds(), "cronjob_controller_job_creation_skew_duration_seconds{} sum")
}

// foreign counts a job of another controller that the adapter sees for the first time.
func (f *Figures) foreign(j *batchv1.Job) {
	if by := j.Spec.ManagedBy; by != nil && *by != job.ControllerName {
		f.add(1, "job_controller_jobs_by_external_controller_total{controller_name=%s}", *by)
	}
}

// pod counts pods that finish with the finalizer, and those that lose it, as watches
// show them. Nil is a pod that is not there yet, or no longer.
func (f *Figures) pod(old, cur *corev1.Pod) {
	if event := job.TrackingEvent(tracking(old), tracking(cur)); event != "" {
		f.add(1, "job_controller_terminated_pods_tracking_finalizer_total{event=%s}", event)
	}
}

// tracking is what [job.TrackingEvent] reads of a pod.
func tracking(p *corev1.Pod) *job.Pod {
	if p == nil {
		return nil
	}
	out := &job.Pod{Tracked: hasFinalizer(p)}
	switch p.Status.Phase {
	case corev1.PodSucceeded:
		out.Phase = job.PodSucceeded
	case corev1.PodFailed:
		out.Phase = job.PodFailed
	}
	return out
}
