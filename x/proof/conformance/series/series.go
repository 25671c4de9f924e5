// Package series reads the counters of Kubernetes' Job and CronJob controllers: from the library's
// metrics, and from the real controllers.
package series

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/metrics"
)

// Counts are counters by series: the name, then the labels in order, such as
// "job_controller_jobs_finished_total{completion_mode=Indexed,reason=,result=succeeded}". A
// histogram has a count and a sum. A missing series counts as 0.
type Counts map[string]float64

func (c Counts) add(n float64, series string) {
	if n != 0 {
		c[series] += n
	}
}

// Add adds other counts to these.
func (c Counts) Add(others Counts) {
	for series, n := range others {
		c[series] += n
	}
}

// Of returns the counts of metrics, in the series that the real controllers also have.
func Of(m *metrics.Metrics) Counts {
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	families, err := registry.Gather()
	if err != nil {
		panic(err)
	}
	counts := Counts{}
	for _, family := range families {
		if reference[family.GetName()] == nil {
			continue
		}
		for _, metric := range family.Metric {
			counts.read(family.GetName(), metric)
		}
	}
	return counts
}

// Job returns what a round of a job adds (J42).
func Job(figures *job.Metrics) Counts {
	m := metrics.New()
	m.Jobs().Round(controller.JobRound{Metrics: figures})
	return Of(m)
}

// CronJob returns what a round of a CronJob adds (C16).
func CronJob(figures *cronjob.Metrics) Counts {
	m := metrics.New()
	m.CronJobs().Round(controller.CronJobRound{Metrics: figures})
	return Of(m)
}
