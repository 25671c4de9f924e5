package picture

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/batchplan/batchplan/x/sim"
)

// unit is a unit of time for an axis.
type unit struct {
	name string
	of   time.Duration
}

var units = []unit{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}}

// unitFor returns the largest unit that fits several times into the span.
func unitFor(span time.Duration) unit {
	for _, u := range units {
		if span >= 3*u.of {
			return u
		}
	}
	return units[len(units)-1]
}

func (u unit) in(d time.Duration) float64 { return float64(d) / float64(u.of) }

// label returns the label of an axis of time.
func (u unit) label(what string) string { return fmt.Sprintf("%s (%s)", what, u.name) }

// steps has, for each unit, the usual distances between ticks.
var steps = map[string][]float64{
	"s":   {1, 2, 5, 10, 15, 20, 30, 60, 120},
	"min": {1, 2, 5, 10, 15, 20, 30, 60, 120},
	"h":   {1, 2, 3, 4, 6, 12, 24},
}

// timeTicks are ticks at round times since the start.
type timeTicks struct{ unit unit }

// clockTicks are ticks at round times of day. They are used with CronJobs.
type clockTicks struct {
	unit  unit
	start time.Time
}

// Ticks returns about eight marks. Their labels are times of day, and at midnight the date.
func (t clockTicks) Ticks(low, high float64) (out []plot.Tick) {
	day := t.start.Truncate(24 * time.Hour)
	shift := t.unit.in(t.start.Sub(day)) // round times count from midnight
	for _, tick := range (timeTicks{t.unit}).Ticks(low+shift, high+shift) {
		at := day.Add(time.Duration(tick.Value * float64(t.unit.of))).Round(time.Second)
		layout := "15:04"
		switch {
		case at.Equal(at.Truncate(24 * time.Hour)):
			layout = "Mon 2 Jan"
		case t.unit.of == time.Second:
			layout = "15:04:05"
		}
		out = append(out, plot.Tick{Value: tick.Value - shift, Label: at.Format(layout)})
	}
	return out
}

// timeAxis labels the axis of time. If there are CronJobs, the labels are times of day, and
// otherwise times since the start.
func (p *Picture) timeAxis(r *sim.Result, u unit) {
	if len(r.CronJobs) == 0 {
		p.plot.X.Tick.Marker = timeTicks{u}
		return
	}
	p.plot.X.Tick.Marker = clockTicks{u, r.Start}
	p.plot.X.Label.Text = "time (" + r.Start.Format("MST") + ")"
}

// Ticks returns about eight marks with labels.
func (t timeTicks) Ticks(low, high float64) (out []plot.Tick) {
	step := niceStep((high - low) / 6)
	for _, s := range steps[t.unit.name] {
		if s >= (high-low)/8 {
			step = s
			break
		}
	}
	for x := math.Ceil(low/step-1e-9) * step; x <= high+1e-9*step; x += step {
		out = append(out, plot.Tick{Value: x, Label: thousands(x)})
	}
	return out
}

// niceStep rounds up to 1, 2 or 5 times a power of ten.
func niceStep(x float64) float64 {
	if !(x > 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, n := range []float64{1, 2, 5} {
		if n*power >= x*(1-1e-9) {
			return n * power
		}
	}
	return 10 * power
}

// numberTicks are ticks at round numbers. If whole is true, they are only at whole numbers.
type numberTicks struct{ whole bool }

// Ticks returns about six marks with labels.
func (t numberTicks) Ticks(low, high float64) (out []plot.Tick) {
	step := niceStep((high - low) / 6)
	if t.whole {
		step = math.Max(step, 1)
	}
	for x := math.Ceil(low/step-1e-9) * step; x <= high+1e-9*step; x += step {
		out = append(out, plot.Tick{Value: x, Label: thousands(x)})
	}
	return out
}

// thousands formats a number with short units.
func thousands(x float64) string {
	switch a := math.Abs(x); {
	case a < 1e-9:
		return "0" // instead of -0
	case a >= 1e6:
		return fmt.Sprintf("%gM", x/1e6)
	case a >= 1e4:
		return fmt.Sprintf("%gk", x/1e3)
	}
	return fmt.Sprintf("%g", math.Round(x*1e6)/1e6)
}

// logTicks are ticks at times on a logarithmic axis in seconds.
type logTicks struct{}

// Ticks returns marks at familiar times.
func (logTicks) Ticks(low, high float64) (out []plot.Tick) {
	for _, t := range []struct {
		at    float64
		label string
	}{{0.01, "≤10ms"}, {0.1, "100ms"}, {1, "1s"}, {10, "10s"}, {60, "1m"}, {600, "10m"}, {3600, "1h"},
		{6 * 3600, "6h"}, {24 * 3600, "1d"}, {7 * 24 * 3600, "7d"}} {
		if t.at >= low*(1-1e-9) && t.at <= high*(1+1e-9) {
			out = append(out, plot.Tick{Value: t.at, Label: t.label})
		}
	}
	return out
}

// grid draws thin lines behind the data.
func (p *Picture) grid() {
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = inkGrid.light, inkGrid.light
	g.Vertical.Width, g.Horizontal.Width = vg.Points(0.5), vg.Points(0.5)
	p.plot.Add(g)
}

// flipped are the ticks of an axis that has 0 at the top.
type flipped struct{ n int }

// Ticks returns about six marks with labels.
func (f flipped) Ticks(low, high float64) (out []plot.Tick) {
	for _, t := range (numberTicks{true}).Ticks(low, high) {
		out = append(out, plot.Tick{Value: float64(f.n) - t.Value, Label: t.Label})
	}
	return out
}
