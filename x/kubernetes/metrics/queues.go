package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
)

var _ workqueue.MetricsProvider = (*Metrics)(nil)

// queues are the series of work queues, by the name of the queue.
type queues struct {
	depth, unfinished, longest *prometheus.GaugeVec
	adds, retries              *prometheus.CounterVec
	waiting, working           *prometheus.HistogramVec
}

func newQueues(b builder) queues {
	buckets := prometheus.ExponentialBuckets(1e-8, 10, 12)
	return queues{
		depth:   b.gauges("depth", "Keys that wait.", "name"),
		adds:    b.counters("adds_total", "Keys that were added.", "name"),
		retries: b.counters("retries_total", "Keys that were added again after a failure.", "name"),
		waiting: b.histograms("queue_duration_seconds", "How long keys waited.", buckets, "name"),
		working: b.histograms("work_duration_seconds", "How long rounds took.", buckets, "name"),
		unfinished: b.gauges("unfinished_work_seconds",
			"How long the rounds under way have taken, added up.", "name"),
		longest: b.gauges("longest_running_processor_seconds",
			"How long the longest round under way has taken.", "name"),
	}
}

// NewDepthMetric measures the length of a queue. With the other New methods it implements
// [workqueue.MetricsProvider].
func (m *Metrics) NewDepthMetric(name string) workqueue.GaugeMetric {
	return m.queues.depth.WithLabelValues(name)
}

// NewAddsMetric counts keys that are added.
func (m *Metrics) NewAddsMetric(name string) workqueue.CounterMetric {
	return m.queues.adds.WithLabelValues(name)
}

// NewLatencyMetric measures how long keys wait.
func (m *Metrics) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return m.queues.waiting.WithLabelValues(name)
}

// NewWorkDurationMetric measures how long rounds take.
func (m *Metrics) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return m.queues.working.WithLabelValues(name)
}

// NewUnfinishedWorkSecondsMetric measures the rounds in progress.
func (m *Metrics) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return m.queues.unfinished.WithLabelValues(name)
}

// NewLongestRunningProcessorSecondsMetric measures the longest round in progress.
func (m *Metrics) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return m.queues.longest.WithLabelValues(name)
}

// NewRetriesMetric counts repeated rounds.
func (m *Metrics) NewRetriesMetric(name string) workqueue.CounterMetric {
	return m.queues.retries.WithLabelValues(name)
}
