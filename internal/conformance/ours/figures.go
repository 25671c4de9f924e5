package ours

import (
	"maps"
	"sync"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/conformance/series"
	"github.com/batchplan/batchplan/job"
)

// Figures are the counters that Kubernetes exports. They come from the metrics of each
// round, and from what only an adapter sees. The zero value is ready.
type Figures struct {
	mu     sync.Mutex
	counts series.Counts
}

// Counts returns the counters so far.
func (f *Figures) Counts() series.Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.counts)
}

// add adds counts. Nil figures count nothing.
func (f *Figures) add(counts series.Counts) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts == nil {
		f.counts = series.Counts{}
	}
	f.counts.Add(counts)
}

// measure counts what the Job controller tells.
type measure struct {
	*Figures
	watch Watch
}

func (m measure) Round(figures *job.Metrics, _ time.Duration) { m.add(series.Job(figures)) }
func (m measure) Tracking(event string)                       { m.add(series.Tracking(event)) }
func (m measure) External(managedBy string)                   { m.add(series.External(managedBy)) }
func (m measure) Stale()                                      { m.watch.Stale() }
func (m measure) CronJobRound(figures *cronjob.Metrics)       { m.add(series.CronJob(figures)) }
