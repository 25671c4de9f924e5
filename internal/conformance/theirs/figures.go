package theirs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	cronmetrics "k8s.io/kubernetes/pkg/controller/cronjob/metrics"
	jobmetrics "k8s.io/kubernetes/pkg/controller/job/metrics"
)

// figures holds the counters of the controllers, and nothing else of the process. Two
// are left out: the duration of rounds, as there are as many as rounds, and the rounds
// that a stale cache has put off, which are left to chance.
var figures = prometheus.NewRegistry()

func init() {
	jobmetrics.Register() // before, they count nothing
	cronmetrics.Register()
	figures.MustRegister(
		jobmetrics.JobSyncNum.CounterVec,
		jobmetrics.JobFinishedNum.CounterVec,
		jobmetrics.JobByExternalControllerTotal.CounterVec,
		jobmetrics.JobPodsFinished.CounterVec,
		jobmetrics.PodFailuresHandledByFailurePolicy.CounterVec,
		jobmetrics.TerminatedPodsTrackingFinalizerTotal.CounterVec,
		jobmetrics.JobFinishedIndexesTotal.CounterVec,
		jobmetrics.JobPodsCreationTotal.CounterVec,
		cronmetrics.CronJobCreationSkew,
	)
}

// Figures returns the counters of the controllers, by series: the name, then the
// labels in order. They belong to the process: what one world has counted is the
// difference between two calls, and two worlds cannot be told apart.
func Figures() map[string]float64 {
	families, err := figures.Gather()
	must(err)
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			count(out, f.GetName(), m)
		}
	}
	return out
}

// count adds a metric to the figures.
func count(out map[string]float64, name string, m *dto.Metric) {
	series := name + labels(m.Label)
	if h := m.GetHistogram(); h != nil {
		out[series+" count"] += float64(h.GetSampleCount())
		out[series+" sum"] += h.GetSampleSum()
		return
	}
	out[series] += m.GetCounter().GetValue()
}

// labels are the labels of a series as text.
func labels(pairs []*dto.LabelPair) string {
	var parts []string
	for _, p := range pairs {
		parts = append(parts, fmt.Sprintf("%s=%s", p.GetName(), p.GetValue()))
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, ",") + "}"
}
