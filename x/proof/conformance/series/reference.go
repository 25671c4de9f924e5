package series

import (
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	cronmetrics "k8s.io/kubernetes/pkg/controller/cronjob/metrics"
	jobmetrics "k8s.io/kubernetes/pkg/controller/job/metrics"
)

// reference holds the counters of the real controllers, by name. Two are left out. One is the
// duration of rounds, whose count is only the number of rounds. The other is the number of rounds
// that a stale cache has postponed, which is random.
var reference = map[string]prometheus.Collector{}

func init() {
	jobmetrics.Register() // before that, they count nothing
	cronmetrics.Register()
	for name, c := range map[string]prometheus.Collector{
		"job_syncs_total":                              jobmetrics.JobSyncNum.CounterVec,
		"jobs_finished_total":                          jobmetrics.JobFinishedNum.CounterVec,
		"jobs_by_external_controller_total":            jobmetrics.JobByExternalControllerTotal.CounterVec,
		"job_pods_finished_total":                      jobmetrics.JobPodsFinished.CounterVec,
		"pod_failures_handled_by_failure_policy_total": jobmetrics.PodFailuresHandledByFailurePolicy.CounterVec,
		"terminated_pods_tracking_finalizer_total":     jobmetrics.TerminatedPodsTrackingFinalizerTotal.CounterVec,
		"job_finished_indexes_total":                   jobmetrics.JobFinishedIndexesTotal.CounterVec,
		"job_pods_creation_total":                      jobmetrics.JobPodsCreationTotal.CounterVec,
	} {
		reference["job_controller_"+name] = c
	}
	reference["cronjob_controller_job_creation_skew_duration_seconds"] = cronmetrics.CronJobCreationSkew
}

// Reference returns the counts of the real controllers. The counters are global: the counts of one
// world are the difference between two calls, and concurrent worlds cannot be distinguished.
func Reference() Counts {
	counts := Counts{}
	for name, collector := range reference {
		found := make(chan prometheus.Metric)
		go func() {
			collector.Collect(found)
			close(found)
		}()
		for metric := range found {
			var m dto.Metric
			if err := metric.Write(&m); err != nil {
				panic(err)
			}
			counts.read(name, &m)
		}
	}
	return counts
}

// Since returns what was added since earlier counts.
func (c Counts) Since(before Counts) Counts {
	added := Counts{}
	for series, n := range c {
		added.add(n-before[series], series)
	}
	return added
}

func (c Counts) read(name string, m *dto.Metric) {
	var labels []string
	for _, l := range m.Label { // by name
		labels = append(labels, fmt.Sprintf("%s=%s", l.GetName(), l.GetValue()))
	}
	series := name + "{" + strings.Join(labels, ",") + "}"
	if h := m.GetHistogram(); h != nil {
		c.add(float64(h.GetSampleCount()), series+" count")
		c.add(h.GetSampleSum(), series+" sum")
		return
	}
	c.add(m.GetCounter().GetValue(), series)
}
