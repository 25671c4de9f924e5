package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/sim"
)

func result(t *testing.T, jobs int, crons int) *sim.Result {
	t.Helper()
	w := sim.World{
		Seed: 1, Until: 12 * time.Hour, Nodes: sim.Nodes(20, sim.Node{Pods: 10}),
		Jobs: sim.Jobs(jobs, 1, sim.Every(time.Second), sim.Job{
			Name: "job", Spec: sim.Spec(10, 5), Pod: sim.Pod{Duration: sim.LogNormal(time.Minute, 0.5), Failure: 0.1},
		}),
	}
	for range crons {
		w.CronJobs = append(w.CronJobs, sim.CronJob{
			Name: "c" + string(rune('a'+len(w.CronJobs)%26)), Spec: cronjob.Spec{Schedule: "*/10 * * * *", ConcurrencyPolicy: cronjob.Forbid},
			Job: sim.Job{Spec: sim.Spec(1, 1), Pod: sim.Pod{Duration: sim.Exponential(10 * time.Minute)}},
		})
	}
	r, err := sim.Run(t.Context(), w)
	must.OK(t, err)
	return r
}

// wellFormed checks a drawing, and returns the words in it.
func wellFormed(t *testing.T, p *Picture) string {
	t.Helper()
	svg := p.SVG()
	var words strings.Builder
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		if text, ok := token.(xml.CharData); ok {
			words.Write(text)
			words.WriteByte('\n')
		}
	}
	if len(svg) > 200_000 {
		t.Errorf("%s has %d bytes", p.Name, len(svg))
	}
	for _, want := range []string{"prefers-color-scheme:dark", "fill:#24292f;fill:var(--text)"} {
		if !bytes.Contains(svg, []byte(want)) {
			t.Errorf("%s: no %s", p.Name, want)
		}
	}
	if !bytes.Contains(svg, []byte("font-family:Liberation Sans,Arial,")) {
		t.Errorf("%s: where the font is not there, nothing is said of another", p.Name)
	}
	return words.String()
}

// Pictures of ten pods and of tens of thousands are well-formed, small, and labelled.
func TestPictures(t *testing.T) {
	for name, r := range map[string]*sim.Result{"one job": result(t, 1, 0), "many jobs": result(t, 500, 0), "CronJobs": result(t, 0, 5), "many CronJobs": result(t, 0, 40)} {
		report, err := NewReport(r, "")
		must.OK(t, err)
		for _, p := range report.Pictures {
			words := wellFormed(t, p)
			for _, want := range []string{p.Title, p.plot.X.Label.Text, p.plot.Y.Label.Text} {
				if !strings.Contains(words, want) {
					t.Errorf("%s: %s does not say %q", name, p.Name, want)
				}
			}
			if p.Name != "waiting" && p.Name != "turnaround" && p.Name != "delay" &&
				!strings.Contains(p.plot.X.Label.Text, "(") {
				t.Errorf("%s: %s has no unit", name, p.Name)
			}
		}
		page, err := report.HTML()
		if err != nil || bytes.Contains(page, []byte("<?xml")) || bytes.Contains(page, []byte(`src=`)) ||
			bytes.Count(page, []byte("<svg")) != len(report.Pictures) {
			t.Errorf("%s: the report is not complete: %v", name, err)
		}
	}
}

// Every pod of a small world has a bar, and the bars of a row do not overlap.
func TestGantt_Bars(t *testing.T) {
	r := result(t, 8, 0)
	if len(r.Pods) > mostBars {
		t.Fatalf("%d pods", len(r.Pods))
	}
	rows := map[float64][]bar{}
	running := 0
	_, all := rowsOf(r, unit{"s", time.Second}, r.LastEnd)
	for _, s := range all {
		rows[s.row] = append(rows[s.row], s)
		if !s.thin {
			running++
		}
	}
	if running != len(r.Pods) {
		t.Errorf("%d bars for %d pods", running, len(r.Pods))
	}
	for row, list := range rows {
		for i := range list {
			for j := range i {
				if list[i].from < list[j].to-1e-9 && list[j].from < list[i].to-1e-9 {
					t.Errorf("row %v: %+v and %+v overlap", row, list[i], list[j])
				}
			}
		}
	}
}

// Up to 400 pods are drawn one by one.
func TestGantt_Most(t *testing.T) {
	r := &sim.Result{End: time.Hour, Jobs: make([]sim.JobRecord, 1), Pods: make([]sim.PodRecord, 400)}
	if p := Gantt(r); p.Title != "When each pod waited and ran" {
		t.Error(p.Title)
	}
	r.Pods = append(r.Pods, sim.PodRecord{})
	if p := Gantt(r); p.Title != "When the pods of 1 job ran" {
		t.Error(p.Title)
	}
}

// A result that ends when it begins can be drawn.
func TestNoTime(t *testing.T) {
	r := &sim.Result{Jobs: make([]sim.JobRecord, 1), Pods: make([]sim.PodRecord, 500)}
	for _, p := range []*Picture{Gantt(r), Load(r)} {
		wellFormed(t, p)
	}
}

// The cells of a dense picture add up to the running time of all pods.
func TestGantt_Density(t *testing.T) {
	c := newCells(3)
	end := time.Hour
	c.add(1, 10*time.Minute, 25*time.Minute+time.Second, end)
	c.add(1, 0, end, end)
	sum := 0.0
	for _, v := range c.value {
		sum += v
	}
	width := end.Seconds() / densityColumns
	if got, want := sum*width, (15*time.Minute + time.Second + end).Seconds(); got < want*0.999 || got > want*1.001 {
		t.Errorf("%v seconds, want %v", got, want)
	}
}

// The colour of a cell shows which share of its pods fails. The depth shows how many pods run.
func TestGantt_Colours(t *testing.T) {
	success, failure := inkSuccess.light, inkFailure.light
	for _, c := range []struct {
		good, bad float64
		of        color.NRGBA
		depth     uint8
	}{
		{4, 0, success, 255}, {2, 0, success, 172}, {3, 1, failure, 255}, {0, 2, failure, 172}, {0, 0, color.NRGBA{}, 0},
		{7.0 / 2, 1.0 / 2, color.NRGBA{(success.R + failure.R) / 2, (success.G + failure.G) / 2, uint8((int(success.B) + int(failure.B)) / 2), 255}, 255},
	} {
		c.of.A = c.depth
		if got := mixed(c.good, c.bad, 4); got != c.of {
			t.Errorf("%v good, %v bad: %v, want %v", c.good, c.bad, got, c.of)
		}
	}
}

func TestLoad_CountsAllPods(t *testing.T) {
	c := newCurve(100 * time.Second)
	c.span(0, 50*time.Second)
	c.span(20*time.Second, 100*time.Second)
	points := c.points(unit{"s", time.Second})
	at := func(x float64) (y float64) {
		for _, p := range points {
			if p.X <= x {
				y = p.Y
			}
		}
		return y
	}
	beyond := newCurve(100 * time.Second)
	beyond.span(0, 200*time.Second)
	if points := beyond.points(unit{"s", time.Second}); points[len(points)-1].Y != 1 {
		t.Errorf("what lasts beyond the end is over there: %v", points)
	}
	if at(10) != 1 || at(30) != 2 || at(60) != 1 || points[len(points)-1].Y != 0 {
		t.Errorf("%v", points)
	}
}

func TestRetries_UnknownJob(t *testing.T) {
	r := result(t, 2, 0)
	if _, err := NewReport(r, "nobody"); err == nil || err.Error() != `job "nobody": no such job` {
		t.Errorf("got %v", err)
	}
	p, err := Retries(r, "job-1")
	if err != nil || p.Title != "Retries of job-1" {
		t.Errorf("got %v", err)
	}
}

// If no name is given, the picture shows the job with the most failures.
func TestRetries_Most(t *testing.T) {
	r := &sim.Result{Jobs: []sim.JobRecord{{Name: "fine"}, {Name: "worst", Failed: 3}, {Name: "bad", Failed: 1}, {Name: "as bad", Failed: 3}}}
	for first, want := range map[int]string{0: "Retries of worst", 1: "Retries of worst", 2: "Retries of as bad"} {
		part := &sim.Result{Jobs: r.Jobs[first:]}
		if p, err := Retries(part, ""); err != nil || p.Title != want {
			t.Errorf("%v, %v, want %s", p.Title, err, want)
		}
	}
}

// Every run is counted once, whatever its outcome, in the interval in which it was due.
func TestCrons_CountsAllRuns(t *testing.T) {
	h := time.Hour
	r := &sim.Result{End: 3 * h, CronJobs: []string{"c"},
		Runs:   []sim.RunRecord{{Scheduled: 0, Created: 0}, {Scheduled: h, Created: h + 2*time.Minute}, {Scheduled: h, Created: h}},
		Missed: []sim.Miss{{Runs: []time.Duration{2 * h, 2*h - 1}, Count: 5, Why: "because"}},
	}
	got := countRuns(r, []string{"because"}, h)
	want := [][]float64{{1, 1, 0, 0}, {0, 1, 0, 0}, {0, 4, 1, 0}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// In an SVG, a plain colour comes before each variable. Some viewers do not support variables.
func TestColoursWithoutVariables(t *testing.T) {
	svg := string(Load(result(t, 10, 3)).SVG())
	if strings.Count(svg, "var(--") < 10 {
		t.Fatalf("%d variables", strings.Count(svg, "var(--"))
	}
	if bare := regexp.MustCompile(`[";](fill|stroke):var\(`).FindAllStringIndex(svg, -1); len(bare) == 0 {
		t.Error("no colour is a variable")
	} else {
		for _, at := range bare {
			if !regexp.MustCompile(`(fill|stroke):#[0-9a-f]{6};$`).MatchString(svg[:at[0]+1]) {
				t.Errorf("no plain colour before %s", svg[at[0]:at[1]+12])
			}
		}
	}
}

func TestPNG(t *testing.T) {
	data, err := Load(result(t, 10, 3)).PNG()
	must.OK(t, err)
	picture, err := png.Decode(bytes.NewReader(data))
	must.OK(t, err)
	if b := picture.Bounds(); b.Dx() != 1520 || b.Dy() != 680 {
		t.Errorf("%v", b)
	}
	for y := range 680 { // the whole frame is drawn, with a margin beside it
		if r, g, b, _ := picture.At(1516, y).RGBA(); r&g&b != 0xffff {
			t.Fatalf("something is drawn at the right edge, in row %d", y)
		}
	}
}

// If there are CronJobs, the axis has times of day, whenever the simulation starts.
func TestClockTicks(t *testing.T) {
	start := time.Date(2026, 3, 1, 20, 30, 0, 0, time.UTC)
	var labels []string
	for _, tick := range (clockTicks{unit{"h", time.Hour}, start}).Ticks(0, 12) {
		labels = append(labels, fmt.Sprintf("%s at %.1f", tick.Label, tick.Value))
	}
	want := "[22:00 at 1.5 Mon 2 Mar at 3.5 02:00 at 5.5 04:00 at 7.5 06:00 at 9.5 08:00 at 11.5]"
	if fmt.Sprint(labels) != want {
		t.Errorf("%v, want %s", labels, want)
	}
}

// Distances between ticks, and widths of intervals, divide the hour or the day. So ticks and
// intervals are at the same times each day.
func TestRoundTimes(t *testing.T) {
	for d := time.Second; d <= 24*time.Hour; d += 7 * time.Second {
		if w := niceWidth(d); w < d || 24*time.Hour%w != 0 || d >= 2*time.Minute && w > 3*d {
			t.Errorf("an interval of %v becomes %v", d, w)
		}
	}
	if w := niceWidth(25 * time.Hour); w != 48*time.Hour {
		t.Errorf("an interval of 25h becomes %v", w)
	}
	whole := map[string]int{"s": 60, "min": 60, "h": 24}
	for name, list := range steps {
		for i, step := range list {
			if n := int(step); whole[name]%n != 0 && n%whole[name] != 0 ||
				i > 0 && (step <= list[i-1] || step > 2.5*list[i-1]) {
				t.Errorf("%v %s", step, name)
			}
		}
	}
}

// Labels are short, and times in them have usual units.
func TestLabels(t *testing.T) {
	for x, want := range map[float64]string{0: "0", -1e-12: "0", 0.1 + 0.2: "0.3", 9999: "9999", 10e3: "10k", 12500: "12.5k", 1e6: "1M", -2.5e6: "-2.5M"} {
		if got := thousands(x); got != want {
			t.Errorf("%v is %s, want %s", x, got, want)
		}
	}
	var numbers []string
	for _, tick := range (numberTicks{}).Ticks(24, 51) {
		numbers = append(numbers, fmt.Sprintf("%s at %v", tick.Label, tick.Value))
	}
	if got := strings.Join(numbers, ", "); got != "25 at 25, 30 at 30, 35 at 35, 40 at 40, 45 at 45, 50 at 50" {
		t.Errorf("numbers %s", got)
	}
	if ticks := (numberTicks{}).Ticks(0, 0); len(ticks) != 1 || ticks[0].Label != "0" {
		t.Errorf("an axis of zeros has %v", ticks)
	}
	seconds := map[string]time.Duration{"≤10ms": 10 * time.Millisecond, "7d": 7 * 24 * time.Hour, "1d": 24 * time.Hour}
	for _, tick := range (logTicks{}).Ticks(0.01, 7*24*3600) {
		want := seconds[tick.Label]
		if want == 0 {
			var err error
			want, err = time.ParseDuration(tick.Label)
			must.OK(t, err)
		}
		if tick.Value != want.Seconds() {
			t.Errorf("%s is at %v s", tick.Label, tick.Value)
		}
		delete(seconds, tick.Label)
	}
	if len(seconds) > 0 {
		t.Errorf("the ends of the axis have no label: %v", seconds)
	}
}

// If the control plane is down, that time is shaded, and the legend explains the shade.
func TestOutages(t *testing.T) {
	r := result(t, 10, 3)
	if words := wellFormed(t, Load(r)); strings.Contains(words, "control plane down") {
		t.Error("nothing was down")
	}
	r.Outages = []sim.Outage{{Window: sim.Window{From: time.Hour, For: time.Hour}}}
	for _, p := range []*Picture{Load(r), Gantt(r), Crons(r)} {
		if words := wellFormed(t, p); !strings.Contains(words, "control plane down") {
			t.Errorf("%s: %s", p.Name, words)
		}
	}
}
