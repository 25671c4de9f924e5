package series

import (
	"maps"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
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

// real reads the counters of the real controllers.
var real = sync.OnceValue(func() *Reader { return NewReader(slices.Collect(maps.Values(reference))...) })

// Reference returns the counts of the real controllers. The counters are global: the counts of one
// world are the difference between two calls, and concurrent worlds cannot be distinguished.
func Reference() Counts { return real().Counts() }

// Since returns what was added since earlier counts.
func (c Counts) Since(before Counts) Counts {
	added := Counts{}
	for series, n := range c {
		added.set(series, n-before[series])
	}
	return added
}
