package picture

import (
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/batchplan/batchplan/x/sim"
)

// loadPoints is the number of points of a line over time.
const loadPoints = 500

// failureBins is the number of intervals in which failures are counted.
const failureBins = 100

// Load shows how many pods ran and waited over time, and how many failed in each interval.
func Load(r *sim.Result) *Picture {
	if len(r.Pods) == 0 {
		return nil
	}
	end := endOf(r)
	u := unitFor(end)
	p := newPicture("load", "How many pods ran, waited and failed", u.label("time since the start"), "pods")

	running, pending := newCurve(end), newCurve(end)
	failed := make(plotter.XYs, failureBins+1)
	for i := range failed {
		failed[i].X = u.in(end) * float64(i) / failureBins
	}

	hasFailures := false
	for i := range r.Pods {
		pod := &r.Pods[i]

		over := until(end, pod.Ended)
		waited := pod.Started
		if waited == sim.None {
			waited = until(end, pod.Gone)
		} else {
			running.span(pod.Started, over)
		}
		pending.span(pod.Created, waited)

		if pod.Ended != sim.None && !pod.Succeeded {
			hasFailures = true
			failed[min(int(float64(pod.Ended)/float64(max(end, 1))*failureBins), failureBins-1)].Y++
		}
	}

	p.outages(r, u)
	p.grid()
	p.line("running", running.points(u), inkSuccess, true)
	p.line("waiting", pending.points(u), inkPending, true)
	if hasFailures {
		p.line("failures in each "+(end/failureBins).Round(time.Second).String(), failed, inkFailure, true)
	}

	p.timeAxis(r, u)
	p.plot.Y.Tick.Marker = numberTicks{true}
	p.plot.X.Min, p.plot.X.Max, p.plot.Y.Min = 0, u.in(end), 0
	p.headroom(0.03)
	return p
}

// curve counts, for each point of time, how many spans include it.
type curve struct {
	end  time.Duration
	diff []int
}

func newCurve(end time.Duration) *curve { return &curve{max(end, 1), make([]int, loadPoints+2)} }

// place returns the first point at or after a time.
func (c *curve) place(at time.Duration) int {
	n := int(float64(at) / float64(c.end) * loadPoints)
	if time.Duration(float64(n)/loadPoints*float64(c.end)) < at {
		n++
	}
	return min(max(n, 0), loadPoints+1)
}

// span adds 1 to the curve between two times.
func (c *curve) span(from, to time.Duration) {
	if to > from {
		c.diff[c.place(from)]++
		c.diff[c.place(to)]--
	}
}

func (c *curve) points(u unit) plotter.XYs {
	out := make(plotter.XYs, 0, loadPoints+1)
	sum := 0
	for i := range loadPoints + 1 {
		sum += c.diff[i]
		if n := len(out); n > 0 && out[n-1].Y == float64(sum) && i < loadPoints {
			continue // between two points, the line keeps its value
		}
		out = append(out, plotter.XY{X: u.in(c.end) * float64(i) / loadPoints, Y: float64(sum)})
	}
	return out
}
