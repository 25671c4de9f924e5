package series

import (
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Reader reads counters again and again, for which a registry is too slow. It reads only those
// that the real controllers also have.
type Reader struct {
	collectors []prometheus.Collector

	mu     sync.Mutex
	known  map[prometheus.Metric]*reading
	counts Counts
}

// reading is the last reading of a metric. The name of its series is empty if it is not read.
type reading struct {
	name string
	n    float64 // for a histogram, the number of samples
}

// NewReader returns a reader of collectors. They must never remove a metric.
func NewReader(collectors ...prometheus.Collector) *Reader {
	return &Reader{collectors: collectors, known: map[prometheus.Metric]*reading{}, counts: Counts{}}
}

// Counts returns the counts so far.
func (r *Reader) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()

	found := make(chan prometheus.Metric, 100)
	go func() {
		for _, c := range r.collectors {
			c.Collect(found)
		}
		close(found)
	}()
	for metric := range found {
		r.read(metric)
	}
	return maps.Clone(r.counts)
}

func (r *Reader) read(metric prometheus.Metric) {
	last := r.known[metric]
	if last != nil && last.name == "" {
		return
	}

	var m dto.Metric
	if err := metric.Write(&m); err != nil {
		panic(err)
	}
	if last == nil {
		last = &reading{name: nameOf(metric.Desc(), &m)}
		r.known[metric] = last
	}

	h := m.GetHistogram()
	n := m.GetCounter().GetValue()
	if h != nil {
		n = float64(h.GetSampleCount())
	}
	if n == last.n || last.name == "" {
		return
	}
	last.n = n
	if h == nil {
		r.counts.set(last.name, n)
		return
	}
	r.counts.set(last.name+" count", n)
	r.counts.set(last.name+" sum", h.GetSampleSum())
}

// nameOf returns the name of a metric's series, or "" if the real controllers have no such metric.
func nameOf(desc *prometheus.Desc, m *dto.Metric) string {
	// A Desc shows its name only in its text: Desc{fqName: "NAME", ...}.
	_, text, begins := strings.Cut(desc.String(), `"`)
	name, _, ends := strings.Cut(text, `"`)
	if !begins || !ends {
		panic("the text of a Desc has changed: " + desc.String())
	}
	if reference[name] == nil {
		return ""
	}
	var labels []string
	for _, l := range m.Label { // by name
		labels = append(labels, fmt.Sprintf("%s=%s", l.GetName(), l.GetValue()))
	}
	return name + "{" + strings.Join(labels, ",") + "}"
}
