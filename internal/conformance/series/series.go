// Package series names the counters of Kubernetes' Job and CronJob controllers: what the
// library's metrics add to them, and what the real controllers have counted.
package series

import (
	"fmt"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// Counts are counters by series: the name, then the labels in order, such as
// "job_controller_jobs_finished_total{completion_mode=Indexed,reason=,result=succeeded}".
// A histogram has a count and a sum. A series that is not there counts nothing.
type Counts map[string]float64

// add adds to one series.
func (c Counts) add(n float64, series string, labels ...any) {
	if n != 0 {
		c[fmt.Sprintf(series, labels...)] += n
	}
}

// Add adds other counts to these.
func (c Counts) Add(others Counts) {
	for series, n := range others {
		c[series] += n
	}
}

// Job returns what a round of a job adds (J42).
func Job(m *job.Metrics) Counts {
	c := Counts{}
	mode, limit, result := m.CompletionMode, "global", "success"
	if m.PerIndex {
		limit = "perIndex"
	}
	if m.Failed {
		result = "error"
	}
	if m.Action != "" {
		c.add(1, "job_controller_job_syncs_total{action=%s,completion_mode=%s,result=%s}", m.Action, mode, result)
	}
	c.add(float64(m.PodsSucceeded), "job_controller_job_pods_finished_total{completion_mode=%s,result=succeeded}", mode)
	c.add(float64(m.PodsFailed), "job_controller_job_pods_finished_total{completion_mode=%s,result=failed}", mode)
	c.add(float64(m.IndexesSucceeded), "job_controller_job_finished_indexes_total{backoffLimit=%s,status=succeeded}", limit)
	c.add(float64(m.IndexesFailed), "job_controller_job_finished_indexes_total{backoffLimit=%s,status=failed}", limit)
	c.add(float64(m.PodsCreated), "job_controller_job_pods_creation_total{reason=%s,status=succeeded}", m.CreateReason.Metric())
	c.add(float64(m.PodsNotCreated), "job_controller_job_pods_creation_total{reason=%s,status=failed}", m.CreateReason.Metric())
	const policy = "job_controller_pod_failures_handled_by_failure_policy_total{action=%s}"
	c.add(float64(m.Policy.FailJob), policy, "FailJob")
	c.add(float64(m.Policy.FailIndex), policy, "FailIndex")
	c.add(float64(m.Policy.Ignore), policy, "Ignore")
	c.add(float64(m.Policy.Count), policy, "Count")
	switch m.Finished {
	case job.ConditionComplete:
		c.add(1, "job_controller_jobs_finished_total{completion_mode=%s,reason=%s,result=succeeded}", mode, m.FinishedReason)
	case job.ConditionFailed:
		c.add(1, "job_controller_jobs_finished_total{completion_mode=%s,reason=%s,result=failed}", mode, m.FinishedReason)
	}
	return c
}

// External returns what the first sight of a job of another controller adds.
func External(managedBy string) Counts {
	c := Counts{}
	c.add(1, "job_controller_jobs_by_external_controller_total{controller_name=%s}", managedBy)
	return c
}

// Tracking returns what an event of [job.TrackingEvent] adds.
func Tracking(event string) Counts {
	c := Counts{}
	c.add(1, "job_controller_terminated_pods_tracking_finalizer_total{event=%s}", event)
	return c
}

// CronJob returns what a round of a CronJob adds (C16).
func CronJob(m *cronjob.Metrics) Counts {
	c := Counts{}
	const skew = "cronjob_controller_job_creation_skew_duration_seconds{}"
	c.add(float64(m.Created), skew+" count")
	c.add(m.CreationSkew.Seconds(), skew+" sum")
	return c
}
