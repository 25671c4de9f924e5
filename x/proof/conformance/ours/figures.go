package ours

import (
	"sync"

	"github.com/batchplan/batchplan/x/kubernetes/metrics"
	"github.com/batchplan/batchplan/x/proof/conformance/series"
)

// Figures are the metrics that our controllers export. The zero value is ready.
type Figures struct {
	once   sync.Once
	told   *metrics.Metrics
	reader *series.Reader
}

// Counts returns the counters so far.
func (f *Figures) Counts() series.Counts {
	f.metrics()
	return f.reader.Counts()
}

// metrics returns the metrics for the controllers. If f is nil, it returns new metrics, which
// nobody reads.
func (f *Figures) metrics() *metrics.Metrics {
	if f == nil {
		return metrics.New()
	}
	f.once.Do(func() {
		f.told = metrics.New()
		f.reader = series.NewReader(f.told)
	})
	return f.told
}
