//go:build rounds

package rounds

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	basemetrics "k8s.io/component-base/metrics"
	"k8s.io/kubernetes/pkg/controller/job/metrics"
)

// counters are those of the real controller, by name. They are the process's: only
// one round may run at a time.
var counters = counterSet{
	"job_syncs_total":                              metrics.JobSyncNum,
	"jobs_finished_total":                          metrics.JobFinishedNum,
	"job_pods_finished_total":                      metrics.JobPodsFinished,
	"pod_failures_handled_by_failure_policy_total": metrics.PodFailuresHandledByFailurePolicy,
	"job_finished_indexes_total":                   metrics.JobFinishedIndexesTotal,
	"job_pods_creation_total":                      metrics.JobPodsCreationTotal,
}

type counterSet map[string]*basemetrics.CounterVec

func (s counterSet) reset() {
	for _, c := range s {
		c.Reset()
	}
}

// read returns the counters that are not zero, by name and labels in the order of
// their names.
func (s counterSet) read() map[string]float64 {
	out := map[string]float64{}
	for name, c := range s {
		collected := make(chan prometheus.Metric, 100)
		c.CounterVec.Collect(collected)
		close(collected)
		for m := range collected {
			var value dto.Metric
			must(m.Write(&value))
			if value.Counter.GetValue() == 0 {
				continue
			}
			labels := []string{name}
			for _, l := range value.Label {
				labels = append(labels, l.GetValue())
			}
			out[strings.Join(labels, " ")] = value.Counter.GetValue()
		}
	}
	return out
}
