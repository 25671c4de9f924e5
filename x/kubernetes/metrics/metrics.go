// Package metrics measures the controllers of package controller for Prometheus, under the
// names and labels of the controllers of Kubernetes:
//
//	m := metrics.New()
//	prometheus.MustRegister(m)
//	config.Wrap(m.Requests) // before the client is made
//	common := controller.Common{QueueMetrics: m}
//	o := controller.JobOptions{Common: common, Metrics: m.Jobs(), ManagedBy: name}
//	jobs, err := controller.NewJobs(controller.BatchJobs(client, factory), o)
//
// Values that are not positive are not counted: the counters of Prometheus panic on negative ones.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// Metrics holds all series of the controllers of one process. It is their prometheus.Collector.
type Metrics struct {
	jobSyncs, jobsFinished, podsFinished, indexesFinished *prometheus.CounterVec
	podsCreated, policy, tracking, external, stale        *prometheus.CounterVec
	jobSyncDuration                                       *prometheus.HistogramVec
	creationSkew, ttlDuration                             prometheus.Histogram
	missed                                                prometheus.Counter
	requests                                              *prometheus.CounterVec
	queues                                                queues

	all         collectors
	controllers int // the number of collectors that come before the collectors of requests and queues
}

// New returns metrics of the controllers of batch/v1, all at zero.
func New() *Metrics { return newMetrics("", nil) }

// Of returns metrics for a resource of your own. The series of its controllers have the prefix
// batchplan_ and the label kind, so that one registry can hold several kinds. Work queues and
// requests have the same series as with New: if the registry already has these, register only
// [Metrics.Controllers].
func Of(kind string) *Metrics { return newMetrics("batchplan_", prometheus.Labels{"kind": kind}) }

func newMetrics(prefix string, constant prometheus.Labels) *Metrics {
	m := &Metrics{}
	all := builder{m, prefix, constant}

	jobs := all.below("job_controller_")
	m.jobSyncs = jobs.counters("job_syncs_total", "Rounds of jobs.", "completion_mode", "result", "action")
	m.jobSyncDuration = jobs.histograms("job_sync_duration_seconds", "How long rounds of jobs took.",
		prometheus.ExponentialBuckets(0.004, 2, 15), "completion_mode", "result", "action")
	m.jobsFinished = jobs.counters("jobs_finished_total",
		"Jobs that have finished.", "completion_mode", "result", "reason")
	m.external = jobs.counters("jobs_by_external_controller_total", "Jobs of other controllers.", "controller_name")
	m.podsFinished = jobs.counters("job_pods_finished_total",
		"Pods that have finished and are accounted for.", "completion_mode", "result")
	m.policy = jobs.counters("pod_failures_handled_by_failure_policy_total",
		"Failed pods that matched a rule of podFailurePolicy.", "action")
	m.tracking = jobs.counters("terminated_pods_tracking_finalizer_total",
		"Pods that have ended with the tracking finalizer (add), and have lost it (delete).", "event")
	m.indexesFinished = jobs.counters("job_finished_indexes_total",
		"Indexes that have finished.", "status", "backoffLimit")
	m.podsCreated = jobs.counters("job_pods_creation_total",
		"Pods that were created, or could not be.", "reason", "status")
	m.stale = jobs.counters("stale_sync_skips_total",
		"Rounds put off until the caches show own writes.", "group", "resource")

	m.creationSkew = all.histogram("cronjob_controller_job_creation_skew_duration_seconds",
		"Time between the run of a CronJob and the creation of its job.", prometheus.ExponentialBuckets(1, 2, 10))
	m.missed = prometheus.NewCounter(prometheus.CounterOpts{
		Name:        prefix + "cronjob_controller_missed_runs_total",
		Help:        "Runs of CronJobs that were due and will not start.",
		ConstLabels: constant,
	})

	m.ttlDuration = all.histogram("ttl_after_finished_controller_job_deletion_duration_seconds",
		"Time between the expiry of a job and its deletion.", prometheus.ExponentialBuckets(0.1, 2, 14))
	m.all = append(m.all, m.missed)
	m.controllers = len(m.all)

	m.requests = builder{m: m}.counters("rest_client_requests_total",
		"Requests to the API server; code <error> means no reply.", "code", "method", "host")
	m.queues = newQueues(builder{m: m, prefix: "workqueue_"})
	return m
}

// Jobs returns the metrics of a Job controller.
func (m *Metrics) Jobs() controller.JobMetrics {
	return controller.JobMetrics{
		Round:    m.jobRound,
		Tracking: func(event string) { add(m.tracking, 1, event) },
		External: func(managedBy string) { add(m.external, 1, managedBy) },
		Stale:    func(cache schema.GroupResource) { add(m.stale, 1, cache.Group, cache.Resource) },
	}
}

// CronJobs returns the metrics of a CronJob controller.
func (m *Metrics) CronJobs() controller.CronJobMetrics {
	return controller.CronJobMetrics{Round: m.cronJobRound}
}

// TTL returns the metrics of a TTL controller.
func (m *Metrics) TTL() controller.TTLMetrics {
	return controller.TTLMetrics{Expired: func(late time.Duration) { m.ttlDuration.Observe(late.Seconds()) }}
}

// builder makes series whose names begin with a prefix and which have constant labels.
type builder struct {
	m        *Metrics
	prefix   string
	constant prometheus.Labels
}

// below returns a builder of series with a longer prefix.
func (b builder) below(prefix string) builder { return builder{b.m, b.prefix + prefix, b.constant} }

func (b builder) counters(name, help string, labels ...string) *prometheus.CounterVec {
	o := prometheus.CounterOpts{Name: b.prefix + name, Help: help, ConstLabels: b.constant}
	v := prometheus.NewCounterVec(o, labels)
	b.m.all = append(b.m.all, v)
	return v
}

func (b builder) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	o := prometheus.GaugeOpts{Name: b.prefix + name, Help: help, ConstLabels: b.constant}
	v := prometheus.NewGaugeVec(o, labels)
	b.m.all = append(b.m.all, v)
	return v
}

func (b builder) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	o := prometheus.HistogramOpts{Name: b.prefix + name, Help: help, Buckets: buckets, ConstLabels: b.constant}
	v := prometheus.NewHistogramVec(o, labels)
	b.m.all = append(b.m.all, v)
	return v
}

func (b builder) histogram(name, help string, buckets []float64) prometheus.Histogram {
	o := prometheus.HistogramOpts{Name: b.prefix + name, Help: help, Buckets: buckets, ConstLabels: b.constant}
	h := prometheus.NewHistogram(o)
	b.m.all = append(b.m.all, h)
	return h
}

// Controllers returns only the metrics of the controllers, for a registry that already has those of
// work queues and requests, such as controller-runtime's.
func (m *Metrics) Controllers() prometheus.Collector { return m.all[:m.controllers] }

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(to chan<- *prometheus.Desc) { m.all.Describe(to) }

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(to chan<- prometheus.Metric) { m.all.Collect(to) }

// collectors is a list of collectors that works as one.
type collectors []prometheus.Collector

func (all collectors) Describe(to chan<- *prometheus.Desc) {
	for _, c := range all {
		c.Describe(to)
	}
}

func (all collectors) Collect(to chan<- prometheus.Metric) {
	for _, c := range all {
		c.Collect(to)
	}
}

// add adds n to one series.
func add(v *prometheus.CounterVec, n int32, labels ...string) {
	if n > 0 {
		v.WithLabelValues(labels...).Add(float64(n))
	}
}

func (m *Metrics) jobRound(round controller.JobRound) {
	r := round.Metrics
	mode, limit, result := string(r.CompletionMode), "global", "success"
	if r.PerIndex {
		limit = "perIndex"
	}
	if r.SyncFailed {
		result = "error"
	}

	if r.Action != "" {
		m.jobSyncs.WithLabelValues(mode, result, r.Action).Inc()
		m.jobSyncDuration.WithLabelValues(mode, result, r.Action).Observe(round.Took.Seconds())
	}

	add(m.podsFinished, r.PodsSucceeded, mode, "succeeded")
	add(m.podsFinished, r.PodsFailed, mode, "failed")
	add(m.indexesFinished, r.IndexesSucceeded, "succeeded", limit)
	add(m.indexesFinished, r.IndexesFailed, "failed", limit)
	add(m.podsCreated, r.PodsCreated, r.CreateReason.Metric(), "succeeded")
	add(m.podsCreated, r.PodsNotCreated, r.CreateReason.Metric(), "failed")
	add(m.policy, r.Policy.FailJob, "FailJob")
	add(m.policy, r.Policy.FailIndex, "FailIndex")
	add(m.policy, r.Policy.Ignore, "Ignore")
	add(m.policy, r.Policy.Count, "Count")

	switch r.Finished {
	case job.ConditionComplete:
		add(m.jobsFinished, 1, mode, "succeeded", r.FinishedReason)
	case job.ConditionFailed:
		add(m.jobsFinished, 1, mode, "failed", r.FinishedReason)
	}
}

func (m *Metrics) cronJobRound(round controller.CronJobRound) {
	r := round.Metrics
	for _, skew := range r.CreationSkews {
		m.creationSkew.Observe(skew.Seconds())
	}
	if r.Unstarted > 0 {
		m.missed.Add(float64(r.Unstarted))
	}
}
