package picture

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/x/sim"
)

const (
	// mostCrons and mostRuns are the maximum numbers of CronJobs and runs that are drawn one by
	// one.
	mostCrons = 24
	mostRuns  = 1500
)

// Crons shows which runs of the CronJobs' schedules started, which were missed, and why. It draws
// each run. If there are many, it draws numbers over time.
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

// aboveBar is how far above the middle of a row its marks are.
const aboveBar = 0.45

// cronRows draws a row for each CronJob.
func cronRows(r *sim.Result) *Picture {
	u := unitFor(r.End)
	p := newPicture("cronjobs", "Which runs of CronJobs started, and which were missed",
		u.label("time since the start"), "CronJobs")
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

	p.outages(r, u)
	p.grid()
	p.plot.Add(b)
	p.marks("time of the schedule", ticks, inkText, draw.PlusGlyph{}, 3)
	p.legend("starts late", inkBackoff, "succeeds", inkSuccess, "fails", inkFailure, "not over", inkOpen)
	for _, name := range names {
		p.marks("missed: "+name, missed[name], inkOf[name], draw.CrossGlyph{}, 4)
	}

	if unnamed > 0 {
		p.Note = value.Count(unnamed, "more missed run") + " before the latest ten that each round names."
	}

	p.timeAxis(r, u)
	p.plot.X.Min, p.plot.X.Max = 0, u.in(r.End)
	p.rowsFromTop(r.CronJobs)
	p.height = vg.Points(150 + 26*float64(len(r.CronJobs)))
	return p
}

// niceWidth rounds up the width of an interval to one that divides the hour or the day. Then all
// intervals have the same number of runs of a schedule.
func niceWidth(d time.Duration) time.Duration {
	for _, minutes := range []time.Duration{1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720} {
		if d <= minutes*time.Minute {
			return minutes * time.Minute
		}
	}
	return (d/(24*time.Hour) + 1) * 24 * time.Hour
}

// The kinds of runs. Runs of the first two kinds have started. Each other kind is a reason why a
// run has not started.
const (
	onTime = iota
	late
	firstReason
)

// cronCounts draws how many runs there were over time.
func cronCounts(r *sim.Result) *Picture {
	u := unitFor(r.End)
	p := newPicture("cronjobs",
		fmt.Sprintf("Which runs of %s CronJobs started, and which were missed", thousands(float64(len(r.CronJobs)))),
		u.label("time of the schedule, since the start"), "runs in each interval")

	width := niceWidth(r.End / 160)
	names, inkOf := reasons(r)
	counts := countRuns(r, names, width)

	inks := []ink{inkSuccess, inkBackoff}
	for _, name := range names {
		inks = append(inks, inkOf[name])
	}

	var all columns
	for i := range counts[onTime] {
		bottom, from := 0.0, time.Duration(i)*width
		for kind := range counts {
			if n := counts[kind][i]; n > 0 {
				all = append(all, column{u.in(from), u.in(from + width*9/10), bottom, bottom + n, inks[kind]})
				bottom += n
			}
		}
	}

	p.outages(r, u)
	p.grid()
	p.plot.Add(all)
	p.legend("starts within a minute", inkSuccess, "starts later", inkBackoff)
	for _, name := range names {
		p.legend("missed: "+name, inkOf[name])
	}

	p.timeAxis(r, u)
	p.plot.Y.Tick.Marker = numberTicks{true}
	p.plot.X.Min, p.plot.X.Max, p.plot.Y.Min = 0, u.in(r.End), 0
	p.Note = fmt.Sprintf("Each column is the runs of %v.", width.Round(time.Second))
	p.headroom(0.03)
	return p
}

// countRuns counts the runs of each kind in each interval. A run belongs to the interval in which
// it was due.
func countRuns(r *sim.Result, reasons []string, width time.Duration) [][]float64 {
	intervals := int(r.End/width) + 1
	counts := make([][]float64, firstReason+len(reasons))
	for i := range counts {
		counts[i] = make([]float64, intervals)
	}

	add := func(kind int, at time.Duration, n int) {
		counts[kind][min(max(int(at/width), 0), intervals-1)] += float64(n)
	}

	for i := range r.Runs {
		if run := &r.Runs[i]; run.Created-run.Scheduled > time.Minute {
			add(late, run.Scheduled, 1)
		} else {
			add(onTime, run.Scheduled, 1)
		}
	}

	for i := range r.Missed {
		m := &r.Missed[i]
		kind := firstReason + slices.Index(reasons, m.Why)
		for _, t := range m.Runs {
			add(kind, t, 1)
		}
		if n := len(m.Runs); n > 0 { // earlier runs, which have no times, count at the time of the oldest
			add(kind, m.Runs[n-1], m.Count-n)
		}
	}
	return counts
}
