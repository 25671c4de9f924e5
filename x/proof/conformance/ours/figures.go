package ours

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

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

// metrics returns what the controllers tell. Nil figures are looked at by nobody.
func (f *Figures) metrics() *metrics.Metrics {
	if f == nil {
		return metrics.New()
	}
	f.once.Do(func() { f.told = metrics.New() })
	return f.told
}

// jobMetrics are the metrics of the Job controller, which also count rounds that are put off.
type jobMetrics struct {
	*metrics.Metrics
	watch Watch
}

// Stale implements [controller.JobMetrics].
func (m jobMetrics) Stale(schema.GroupResource) { m.watch.Stale() }
