package replica

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/batchplan/batchplan/x/kubernetes/metrics"
)

// measure returns the metrics that belong to a registry. The first call registers them.
func measure(r *prometheus.Registry) *metrics.Metrics {
	m := metrics.New()
	err := r.Register(m)
	if already, ok := err.(prometheus.AlreadyRegisteredError); ok {
		return already.ExistingCollector.(*metrics.Metrics)
	}
	if err != nil {
		panic(err) // nothing else in the registry has these names
	}
	return m
}
