package picture

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/batchplan/batchplan/x/sim"
)

// Samples collects the distributions of each variant over all of its runs.
type Samples struct {
	waiting, turnaround, delay []sim.Sketch
}

// NewSamples returns empty distributions for a number of variants.
func NewSamples(variants int) *Samples {
	return &Samples{make([]sim.Sketch, variants), make([]sim.Sketch, variants), make([]sim.Sketch, variants)}
}

// Add adds a run of a variant.
func (s *Samples) Add(variant int, r *sim.Result) {
	s.waiting[variant].Merge(&r.Waiting)
	s.turnaround[variant].Merge(&r.Turnaround)
	s.delay[variant].Merge(&r.RunDelay)
}

// Distribution shows, for each variant and each value, the share of durations below the value.
func Distribution(name, title, what string, variants []string, sketches []sim.Sketch) *Picture {
	p := newPicture(name, title, what, "share of all, in percent")
	p.grid()

	some := false
	low, high := math.Inf(1), 0.0
	for i := range sketches {
		points := cumulative(&sketches[i])
		if len(points) == 0 {
			continue
		}

		some = true
		low, high = min(low, points[0].X), max(high, points[len(points)-1].X)
		var dashes []vg.Length
		if i > 0 { // dashes keep lines visible that coincide
			dashes = []vg.Length{vg.Points(float64(2 + 3*i)), vg.Points(3)}
		}
		p.line(variants[i], points, series[i%len(series)], false, dashes...)
	}

	if !some {
		return nil
	}
	for len(logTicks{}.Ticks(low, high)) < 2 { // an axis has at least two numbers
		low, high = low/2, high*2
	}

	p.plot.X.Scale = plot.LogScale{}
	p.plot.X.Tick.Marker = logTicks{}
	p.plot.X.Min, p.plot.X.Max = low, high
	p.plot.Y.Min, p.plot.Y.Max = 0, 100
	p.plot.Y.Tick.Marker = numberTicks{}
	return p
}

// cumulative returns a point for each percent. Durations below 10 ms count as 10 ms.
func cumulative(s *sim.Sketch) (out plotter.XYs) {
	if s.N == 0 {
		return nil
	}
	const least = 0.01
	for percent := 0.0; percent <= 100; percent++ {
		out = append(out, plotter.XY{X: max(s.Quantile(percent/100).Seconds(), least), Y: percent})
	}
	return out
}

// Estimates shows a metric of each variant with its confidence interval.
func Estimates(c *sim.Comparison, metric int) *Picture {
	m := c.Metrics[metric]
	label := m.Name
	scale := 1.0
	if m.Unit == "s" {
		most := 0.0
		for v := range c.Variants {
			most = max(most, c.Estimate(v, metric).Mean)
		}
		u := unitFor(duration(most))
		scale = 1 / u.of.Seconds()
		label = u.label(m.Name)
	} else if m.Unit != "" {
		label += " (" + m.Unit + ")"
	}

	p := newPicture(fileName("metric-"+m.Name),
		"Mean "+m.Name+", with the interval that holds it in 19 of 20 cases", label, "")
	p.grid()

	b := &bars{rows: float64(len(c.Variants))}
	var means plotter.XYs
	for v := range c.Variants {
		e := c.Estimate(v, metric)
		means = append(means, plotter.XY{X: e.Mean * scale, Y: float64(v)})
		if !math.IsInf(e.Half, 0) {
			b.all = append(b.all,
				bar{(e.Mean - e.Half) * scale, (e.Mean + e.Half) * scale, float64(v), inkPending, true})
		}
	}

	p.plot.Add(b)
	p.marks("", means, inkSuccess, draw.CircleGlyph{}, 4)
	p.plot.X.Tick.Marker = numberTicks{}
	p.plot.X.Min = min(0, p.plot.X.Min)
	p.plot.Y.Min, p.plot.Y.Max = -0.7, float64(len(c.Variants))-0.3
	p.rowsFromTop(c.Variants)
	p.height = vg.Points(95 + 24*float64(len(c.Variants)))
	return p
}
