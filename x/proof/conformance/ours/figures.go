package ours

import (
	"sync"

	"github.com/batchplan/batchplan/x/kubernetes/metrics"
	"github.com/batchplan/batchplan/x/proof/conformance/series"
)

// Figures are the metrics that our controllers export. The zero value is ready.
type Figures struct {
	once sync.Once
	told *metrics.Metrics
}

// Counts returns the counters so far.
func (f *Figures) Counts() series.Counts { return series.Of(f.metrics()) }

// metrics returns the metrics for the controllers. If f is nil, it returns new metrics, which
// nobody reads.
func (f *Figures) metrics() *metrics.Metrics {
	if f == nil {
		return metrics.New()
	}
	f.once.Do(func() { f.told = metrics.New() })
	return f.told
}
