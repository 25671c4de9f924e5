package picture

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/batchplan/batchplan/examples/simulate/sim"
)

const (
	// mostCrons is the most CronJobs, mostRuns the most runs, that are drawn one by one.
	mostCrons = 24
	mostRuns  = 1500
)

// Crons shows the runs of CronJobs against their schedule, and what was missed and why: run by
// run, or as numbers over time where there are many.
func Crons(r *sim.Result) *Picture {
	if len(r.Runs)+len(r.Missed) == 0 {
		return nil
	}
	if len(r.CronJobs) <= mostCrons && len(r.Runs) <= mostRuns {
		return cronRows(r)
	}
	return cronCounts(r)
}

// reasons lists why runs were missed, the most frequent first, with an ink for each.
func reasons(r *sim.Result) (names []string, inkOf map[string]ink) {
	count := map[string]int{}
	for i := range r.Missed {
		count[r.Missed[i].Why] += r.Missed[i].Count
	}
	for name := range count {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	inkOf = map[string]ink{}
	for i, name := range names {
		inkOf[name] = []ink{inkFailure, inkFourth, inkFifth}[min(i, 2)]
	}
	return names, inkOf
}

// aboveBar is where the marks of a row are.
const aboveBar = 0.45

// cronRows draws a row for each CronJob.
func cronRows(r *sim.Result) *Picture {
	u := unitFor(r.End)
	p := newPicture("cronjobs", "Runs of CronJobs", u.label("time since the start"), "CronJobs")
	b := &bars{rows: float64(len(r.CronJobs))}
	var ticks plotter.XYs
	for i := range r.Runs {
		run := &r.Runs[i]
		row := float64(run.Cron)
		if run.Created-run.Scheduled > time.Second {
			b.all = append(b.all, bar{u.in(run.Scheduled), u.in(run.Created), row, inkBackoff, true})
		}
		k := inkSuccess
		switch run.End {
		case "Failed":
			k = inkFailure
		case "":
			k = inkOpen
		}
		b.all = append(b.all, bar{u.in(run.Created), u.in(until(r.End, run.Finished)), row, k, false})
		ticks = append(ticks, plotter.XY{X: u.in(run.Scheduled), Y: row - aboveBar})
	}
	names, inkOf := reasons(r)
	missed := map[string]plotter.XYs{}
	unnamed := 0
	for i := range r.Missed {
		m := &r.Missed[i]
		for _, at := range m.Runs {
			missed[m.Why] = append(missed[m.Why], plotter.XY{X: u.in(at), Y: float64(m.Cron) - aboveBar})
		}
		unnamed += m.Count - len(m.Runs)
	}
	p.grid()
	p.plot.Add(b)
	p.marks("time of the schedule", ticks, inkText, draw.PlusGlyph{}, 3)
	p.legend("starts late", inkBackoff, "succeeds", inkSuccess, "fails", inkFailure)
	for _, name := range names {
		p.marks("missed: "+name, missed[name], inkOf[name], draw.CrossGlyph{}, 4)
	}
	if unnamed > 0 {
		p.Note = fmt.Sprintf("%d more runs were missed, before the latest ten that each round names.", unnamed)
	}
	p.plot.X.Tick.Marker = timeTicks{u}
	p.plot.X.Min, p.plot.X.Max = 0, u.in(r.End)
	p.rowsFromTop(r.CronJobs)
	p.height = vg.Points(150 + 26*float64(len(r.CronJobs)))
	return p
}

// niceWidth rounds an interval up to one that divides the hour or the day, so that each holds
// as many runs of a schedule as the next.
func niceWidth(d time.Duration) time.Duration {
	for _, minutes := range []time.Duration{1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720} {
		if d <= minutes*time.Minute {
			return minutes * time.Minute
		}
	}
	return (d/(24*time.Hour) + 1) * 24 * time.Hour
}

// cronCounts draws how many runs there were over time.
func cronCounts(r *sim.Result) *Picture {
	u := unitFor(r.End)
	p := newPicture("cronjobs", fmt.Sprintf("Runs of %s CronJobs", thousands(float64(len(r.CronJobs)))), u.label("time of the schedule, since the start"), "runs in each interval")
	width := niceWidth(r.End / 160)
	columns := int(r.End/width) + 1
	at := func(t time.Duration) int { return min(max(int(t/width), 0), columns-1) }
	onTime, late := make([]float64, columns), make([]float64, columns)
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.Created-run.Scheduled > time.Minute {
			late[at(run.Scheduled)]++
		} else {
			onTime[at(run.Scheduled)]++
		}
	}
	names, inkOf := reasons(r)
	missed := map[string][]float64{}
	for i := range r.Missed {
		m := &r.Missed[i]
		if missed[m.Why] == nil {
			missed[m.Why] = make([]float64, columns)
		}
		for _, t := range m.Runs {
			missed[m.Why][at(t)]++
		}
		if len(m.Runs) > 0 && m.Count > len(m.Runs) {
			missed[m.Why][at(m.Runs[len(m.Runs)-1])] += float64(m.Count - len(m.Runs))
		}
	}
	points := func(values []float64) (out plotter.XYs) {
		for i, v := range values {
			out = append(out, plotter.XY{X: u.in(time.Duration(i) * width), Y: v})
		}
		return append(out, plotter.XY{X: u.in(time.Duration(columns) * width), Y: 0})
	}
	p.grid()
	p.line("starts within a minute", points(onTime), inkSuccess, true)
	p.line("starts later", points(late), inkBackoff, true)
	for _, name := range names {
		p.line("missed: "+name, points(missed[name]), inkOf[name], true)
	}
	p.plot.X.Tick.Marker, p.plot.Y.Tick.Marker = timeTicks{u}, numberTicks{true}
	p.plot.X.Min, p.plot.X.Max, p.plot.Y.Min = 0, u.in(r.End), 0
	p.Note = fmt.Sprintf("Each interval is %v.", width.Round(time.Second))
	p.headroom(0.03)
	return p
}
