package series

import (
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	cronmetrics "k8s.io/kubernetes/pkg/controller/cronjob/metrics"
	jobmetrics "k8s.io/kubernetes/pkg/controller/job/metrics"
)

// reference are the counters of the real controllers, by name. Two are left out: the
// duration of rounds, as there are as many as rounds, and the rounds that a stale cache
// has put off, which are left to chance.
var reference = map[string]prometheus.Collector{}

func init() {
	jobmetrics.Register() // before, they count nothing
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

// Reference returns what the real controllers have counted. The counters belong to the
// process: what one world has counted is the difference between two calls, and two
// worlds cannot be told apart.
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

// Since returns what has been added since another look.
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
