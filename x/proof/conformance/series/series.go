// Package series reads the counters of Kubernetes' Job and CronJob controllers: from the library's
// metrics, and from the real controllers.
package series

import (
	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/metrics"
)

// Counts are counters by series: the name, then the labels in order, such as
// "job_controller_jobs_finished_total{completion_mode=Indexed,reason=,result=succeeded}". A
// histogram has a count and a sum. A missing series counts as 0.
type Counts map[string]float64

// set sets a count, unless it is 0.
func (c Counts) set(series string, n float64) {
	if n != 0 {
		c[series] = n
	}
}

// Add adds other counts to these.
func (c Counts) Add(others Counts) {
	for series, n := range others {
		c[series] += n
	}
}

// Job returns what a round of a job adds (J42).
func Job(figures *job.Metrics) Counts {
	m := metrics.New()
	m.Jobs().Round(controller.JobRound{Metrics: figures})
	return NewReader(m).Counts()
}

// CronJob returns what a round of a CronJob adds (C16).
func CronJob(figures *cronjob.Metrics) Counts {
	m := metrics.New()
	m.CronJobs().Round(controller.CronJobRound{Metrics: figures})
	return NewReader(m).Counts()
}
