package replica

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
)

// queueMetrics are the metrics of work queues, under the names that the controllers of
// Kubernetes use.
type queueMetrics struct {
	depth, unfinished, longest *prometheus.GaugeVec
	adds, retries              *prometheus.CounterVec
	latency, duration          *prometheus.HistogramVec
}

// newQueueMetrics returns the metrics in a registry, also if they are there already.
func newQueueMetrics(r *prometheus.Registry) *queueMetrics {
	labels := []string{"name"}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return register(r, prometheus.NewGaugeVec(prometheus.GaugeOpts{Subsystem: "workqueue", Name: name, Help: help}, labels))
	}
	counter := func(name, help string) *prometheus.CounterVec {
		return register(r, prometheus.NewCounterVec(prometheus.CounterOpts{Subsystem: "workqueue", Name: name, Help: help}, labels))
	}
	histogram := func(name, help string) *prometheus.HistogramVec {
		buckets := prometheus.ExponentialBuckets(1e-6, 10, 9) // a microsecond to 100 seconds
		return register(r, prometheus.NewHistogramVec(prometheus.HistogramOpts{Subsystem: "workqueue", Name: name, Help: help, Buckets: buckets}, labels))
	}
	return &queueMetrics{
		depth:      gauge("depth", "Keys that wait in the queue."),
		unfinished: gauge("unfinished_work_seconds", "Age of all rounds under way together."),
		longest:    gauge("longest_running_processor_seconds", "Age of the oldest round under way."),
		adds:       counter("adds_total", "Keys that were added to the queue."),
		retries:    counter("retries_total", "Rounds that were repeated after a failure."),
		latency:    histogram("queue_duration_seconds", "How long a key waits in the queue."),
		duration:   histogram("work_duration_seconds", "How long a round takes."),
	}
}

// register returns the collector that the registry has under that name.
func register[C prometheus.Collector](r *prometheus.Registry, c C) C {
	err := r.Register(c)
	if already, ok := err.(prometheus.AlreadyRegisteredError); ok {
		return already.ExistingCollector.(C)
	}
	if err != nil {
		panic(err) // the names are those above
	}
	return c
}

// The methods of [workqueue.MetricsProvider].

func (m *queueMetrics) NewDepthMetric(name string) workqueue.GaugeMetric {
	return m.depth.WithLabelValues(name)
}

func (m *queueMetrics) NewAddsMetric(name string) workqueue.CounterMetric {
	return m.adds.WithLabelValues(name)
}

func (m *queueMetrics) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return m.latency.WithLabelValues(name)
}

func (m *queueMetrics) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return m.duration.WithLabelValues(name)
}

func (m *queueMetrics) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return m.unfinished.WithLabelValues(name)
}

func (m *queueMetrics) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return m.longest.WithLabelValues(name)
}

func (m *queueMetrics) NewRetriesMetric(name string) workqueue.CounterMetric {
	return m.retries.WithLabelValues(name)
}
