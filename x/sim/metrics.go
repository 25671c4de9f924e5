package sim

import (
	"slices"
	"time"
)

// Metric is a figure of a result.
type Metric struct {
	Name string
	// Unit is "s", "h" or "" for a number.
	Unit  string
	Value float64
}

// Metrics returns the figures by which variants are compared, always in the same order.
func (r *Result) Metrics() []Metric {
	in := func(d time.Duration) float64 { return d.Seconds() }
	n := func(n int64) float64 { return float64(n) }
	return []Metric{
		{"makespan", "s", in(r.LastEnd)},
		{"jobs complete", "", n(r.JobsComplete)},
		{"jobs failed", "", n(r.JobsFailed)},
		{"turnaround mean", "s", in(r.Turnaround.Mean())},
		{"turnaround p95", "s", in(r.Turnaround.Quantile(0.95))},
		{"waiting mean", "s", in(r.Waiting.Mean())},
		{"waiting p95", "s", in(r.Waiting.Quantile(0.95))},
		{"pods created", "", n(r.PodsCreated)},
		{"pods failed", "", n(r.PodsFailed)},
		{"evictions", "", n(r.Evictions)},
		{"nodes lost", "", n(r.NodesLost)},
		{"nodes added", "", n(r.NodesAdded)},
		{"cost", "", r.Cost},
		{"cost of busy nodes", "", r.CostBusy},
		{"pod time used", "h", r.Used.Hours()},
		{"pod time wasted", "h", r.Wasted.Hours()},
		{"pod time idle", "h", r.Idle.Hours()},
		{"runs started", "", n(r.RunsStarted)},
		{"runs missed", "", n(r.RunsMissed)},
		{"run delay mean", "s", in(r.RunDelay.Mean())},
		{"run delay p95", "s", in(r.RunDelay.Quantile(0.95))},
		{"run delay max", "s", in(r.RunDelay.Max)},
		{"rounds", "", n(r.Rounds + r.CronRounds)},
		{"status writes", "", n(r.StatusWrites)},
		{"jobs open", "", float64(r.Open.Jobs)},
	}
}

// Figures returns the metrics that are not 0, as they are shown for a single result. While jobs are open,
// the cost is called the cost so far.
func (r *Result) Figures() []Metric {
	all := slices.DeleteFunc(r.Metrics(), func(m Metric) bool { return m.Value == 0 })
	for i := range all {
		if all[i].Name == "cost" && r.Open.Jobs > 0 {
			all[i].Name = "cost so far"
		}
	}
	return all
}
