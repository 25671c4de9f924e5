package picture

import (
	"fmt"
	"image"
	"image/color"
	"slices"
	"time"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/batchplan/batchplan/x/sim"
)

// mostBars is the maximum number of pods that are drawn one by one.
const mostBars = 400

// Gantt shows when pods waited and ran. It draws each pod. If there are many, it draws their
// density.
func Gantt(r *sim.Result) *Picture {
	if len(r.Pods) == 0 {
		return nil
	}
	if len(r.Pods) <= mostBars {
		return ganttBars(r)
	}
	return ganttDensity(r)
}

// until returns when something ended, or the end of the picture if it has not ended.
func until(end, at time.Duration) time.Duration {
	if at == sim.None {
		return end
	}
	return at
}

// endOf returns the time at which the interesting part of a result ends.
func endOf(r *sim.Result) time.Duration {
	if r.Open.IsEmpty() && r.LastEnd > 0 && len(r.CronJobs) == 0 {
		return r.LastEnd
	}
	return r.End
}

// ganttBars draws each pod. The pods of a job are below each other. Two pods share a row if one
// ends before the other is created.
func ganttBars(r *sim.Result) *Picture {
	end := endOf(r)
	u := unitFor(end)
	p := newPicture("gantt", "When each pod waited and ran", u.label("time since the start"), "jobs")
	names, all := rowsOf(r, u, end)
	b := &bars{all: all, rows: float64(len(names))}
	p.outages(r, u)
	p.grid()
	p.plot.Add(b)
	p.timeAxis(r, u)
	p.rowsFromTop(names)
	p.legend("waits", inkPending, "succeeds", inkSuccess, "fails", inkFailure, "not over", inkOpen)
	p.height = vg.Points(min(130+13*float64(len(names)), 1400))
	return p
}

// rowsOf returns the names of the rows and the bars in them.
func rowsOf(r *sim.Result, u unit, end time.Duration) (names []string, all []bar) {
	byJob := map[int32][]*sim.PodRecord{}
	for i := range r.Pods {
		byJob[r.Pods[i].Job] = append(byJob[r.Pods[i].Job], &r.Pods[i])
	}

	for id := range r.Jobs {
		var free []time.Duration
		first := len(names)
		for _, pod := range byJob[int32(id)] {

			row := slices.IndexFunc(free, func(t time.Duration) bool { return t <= pod.Created })
			if row < 0 {
				row = len(free)
				free = append(free, 0)
				names = append(names, "")
			}

			over := until(end, pod.Ended)
			if pod.Started == sim.None && pod.Gone != sim.None {
				over = pod.Gone
			}
			free[row] = over
			all = append(all, podBars(pod, u, over, first+row)...)
		}

		if len(free) > 0 {
			names[first] = r.Jobs[id].Name
		}
	}
	return names, all
}

// podBars returns the bars of a pod: one for its waiting time, and one for its running time.
func podBars(pod *sim.PodRecord, u unit, over time.Duration, row int) []bar {
	k := inkFailure
	switch {
	case pod.Ended == sim.None:
		k = inkOpen
	case pod.Succeeded:
		k = inkSuccess
	}
	started := pod.Started
	if started == sim.None {
		return []bar{{u.in(pod.Created), u.in(over), float64(row), inkPending, true}}
	}
	out := []bar{{u.in(started), u.in(over), float64(row), k, false}}
	if started > pod.Created {
		out = append(out, bar{u.in(pod.Created), u.in(started), float64(row), inkPending, true})
	}
	return out
}

// The size of a picture of densities, in cells.
const (
	densityColumns = 480
	densityRows    = 160
)

// ganttDensity draws how many pods ran. Columns are times, and rows are jobs in their order. Failed
// pods have another colour.
func ganttDensity(r *sim.Result) *Picture {
	end := endOf(r)
	u := unitFor(end)
	jobs := len(r.Jobs)
	rows := min(jobs, densityRows)
	what := "jobs in the order of their submission"
	p := newPicture("gantt", fmt.Sprintf("When the pods of %s ran", numbered(jobs)),
		u.label("time since the start"), what)

	good, bad := newCells(rows), newCells(rows)
	for i := range r.Pods {
		pod := &r.Pods[i]
		if pod.Started == sim.None {
			continue
		}
		cells := good
		if pod.Ended != sim.None && !pod.Succeeded {
			cells = bad
		}
		cells.add(int(int64(pod.Job)*int64(rows)/int64(jobs)), pod.Started, until(end, pod.Ended), end)
	}

	picture := image.NewNRGBA(image.Rect(0, 0, densityColumns, rows))
	most := 0.0
	for i := range good.value {
		most = max(most, good.value[i]+bad.value[i])
	}
	for row := range rows {
		for column := range densityColumns {
			i := row*densityColumns + column
			picture.SetNRGBA(column, row, mixed(good.value[i], bad.value[i], most))
		}
	}

	p.outages(r, u)
	p.grid()
	p.plot.Add(plotter.NewImage(picture, 0, 0, u.in(end), float64(jobs)))
	p.timeAxis(r, u)
	p.plot.Y.Tick.Marker = numberTicks{true}
	p.plot.Y.Min, p.plot.Y.Max = 0, float64(jobs)
	p.plot.X.Min, p.plot.X.Max = 0, u.in(end)

	p.Note = fmt.Sprintf("The first jobs are at the top. Each cell is %v of %s; the darkest has %s running pods on "+
		"average. Cells where pods fail are red.",
		(end / densityColumns).Round(time.Second), numbered((jobs+rows-1)/rows), sim.Number(most))

	p.legend("pods that succeed", inkSuccess, "pods that fail", inkFailure)
	p.flipNumbers(jobs)
	p.height = vg.Points(420)
	return p
}

func numbered(jobs int) string {
	if jobs == 1 {
		return "1 job"
	}
	return thousands(float64(jobs)) + " jobs"
}

// flipNumbers numbers the rows from the top, where the first job is.
func (p *Picture) flipNumbers(n int) {
	p.plot.Y.Tick.Marker = flipped{n}
}

// mixed returns the colour of a cell.
func mixed(good, bad, most float64) color.NRGBA {
	sum := good + bad
	if sum == 0 {
		return color.NRGBA{}
	}
	share := min(1, 4*bad/sum) // even a few failures must be visible
	g, f := inkSuccess.light, inkFailure.light
	blend := func(a, b uint8) uint8 { return uint8(float64(a)*(1-share) + float64(b)*share) }
	return color.NRGBA{blend(g.R, f.R), blend(g.G, f.G), blend(g.B, f.B), uint8(90 + 165*sum/most)}
}

// cells has the mean number of running pods of each row in each column of time.
type cells struct {
	rows  int
	value []float64
}

func newCells(rows int) *cells { return &cells{rows, make([]float64, rows*densityColumns)} }

// add adds a pod to a row for the time in which the pod ran.
func (c *cells) add(row int, from, to, end time.Duration) {
	width := float64(end) / densityColumns
	first, last := int(float64(from)/width), int(float64(to)/width)
	for column := max(first, 0); column <= min(last, densityColumns-1); column++ {
		begin, over := float64(column)*width, float64(column+1)*width
		part := (min(over, float64(to)) - max(begin, float64(from))) / width
		c.value[row*densityColumns+column] += max(part, 0)
	}
}
