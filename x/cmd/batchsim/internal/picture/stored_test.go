package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/x/sim"
)

var update = flag.Bool("update", false, "rewrite the stored reports: look at the pictures that batchsim writes")

// crons returns n CronJobs. Their runs start, start late, fail, last long, or are missed for
// several reasons.
func crons(n int) (all []sim.CronJob) {
	kinds := []sim.CronJob{
		{Name: "slow", Spec: cronjob.Spec{Schedule: "*/10 * * * *", ConcurrencyPolicy: cronjob.Forbid}, Job: sim.Job{Pod: sim.Pod{Duration: sim.Exponential(12 * time.Minute)}}},
		{Name: "fails", Spec: cronjob.Spec{Schedule: "5,35 * * * *"}, Job: sim.Job{Pod: sim.Pod{Duration: sim.Constant(7 * time.Minute), Failure: 0.5}}},
		{Name: "strict", Spec: cronjob.Spec{Schedule: "*/15 * * * *", StartingDeadlineSeconds: new(int64(100))}, Job: sim.Job{Pod: sim.Pod{Duration: sim.Constant(time.Minute)}}},
	}
	for i := range n {
		c := kinds[i%len(kinds)]
		c.Job.Spec = sim.Spec(1, 1)
		c.Job.Spec.BackoffLimit = new(int32(0))
		if i >= len(kinds) {
			c.Name += fmt.Sprint("-", i)
		}
		all = append(all, c)
	}
	return all
}

func rendering(name string, pods int32, failure float64) sim.Job {
	spec := sim.Spec(pods, 3)
	spec.BackoffLimit = new(int32(100))
	return sim.Job{Name: name, Spec: spec, Pod: sim.Pod{Duration: sim.LogNormal(4*time.Minute, 0.5), Failure: failure}}
}

func some(jobs ...sim.Job) iter.Seq2[sim.Job, error] {
	return func(yield func(sim.Job, error) bool) {
		for _, j := range jobs {
			if !yield(j, nil) {
				return
			}
		}
	}
}

// TestStored compares reports with stored ones. A stored report has a line for each word and shape
// of a picture, with its place and its colour.
func TestStored(t *testing.T) {
	outage := sim.ControlPlane{Outages: []sim.Outage{{Window: sim.Window{From: 65 * time.Minute, For: 40 * time.Minute}}}}
	late, impatient := rendering("late", 20, 0.2), rendering("impatient", 9, 0)
	late.Submit, impatient.Submit = 110*time.Minute, 125*time.Minute
	// some of its pods never start
	impatient.Spec.Parallelism, impatient.Spec.ActiveDeadlineSeconds = new(int32(9)), new(int64(240))
	played := func(w sim.World, focus string) *Report {
		w.Seed, w.Start = 1, time.Date(2026, 3, 1, 22, 30, 0, 0, time.UTC)
		r, err := sim.Run(t.Context(), w)
		must.OK(t, err)
		report, err := NewReport(r, focus)
		must.OK(t, err)
		return report
	}
	compared := func() *Report {
		variants := make([]sim.Variant, 3)
		for i, name := range []string{"reliable", "as it is", "poor"} {
			variants[i] = sim.Variant{Name: name, World: func(seed uint64) sim.World {
				return sim.World{Seed: seed, Nodes: sim.Nodes(2, sim.Node{Pods: 2}), Jobs: sim.Jobs(3, 1, sim.Every(time.Minute), rendering("render", 4, 0.2*float64(i)))}
			}}
		}
		samples := NewSamples(len(variants))
		c, err := sim.Compare(t.Context(), variants, 1, 4, 1, func(variant, _ int, r *sim.Result) { samples.Add(variant, r) })
		must.OK(t, err)
		return NewComparison(c, samples)
	}
	for name, report := range map[string]*Report{
		// Bars: jobs wait, retry, and have not ended when the simulation ends. There is a row for
		// each CronJob.
		"open": played(sim.World{Until: 3 * time.Hour, Nodes: sim.Nodes(2, sim.Node{Pods: 3}), CronJobs: crons(3), ControlPlane: outage,
			Jobs: some(rendering("render", 12, 0.2), late, impatient)}, "late"),
		// Densities, since there are more pods. One job has more retries than are drawn.
		"dense": played(sim.World{Nodes: sim.Nodes(6, sim.Node{Pods: 10}), Jobs: sim.Jobs(12, 1, sim.Every(7*time.Minute), rendering("render", 50, 0.3))}, ""),
		// Everything has ended, and so the axis of time ends there.
		"over": played(sim.World{Nodes: sim.Nodes(1, sim.Node{Pods: 2}), Jobs: sim.Jobs(2, 1, sim.Every(10*time.Second), sim.Job{Name: "job", Spec: sim.Spec(2, 2), Pod: sim.Pod{Duration: sim.Constant(20 * time.Second)}})}, ""),
		// Columns, since there are many CronJobs. One outage lasts until the end.
		"columns": played(sim.World{Until: 10 * time.Hour, CronJobs: crons(27), ControlPlane: sim.ControlPlane{
			Outages: []sim.Outage{{Window: sim.Window{From: 3 * time.Hour, For: 3 * time.Hour}}, {Window: sim.Window{From: 9 * time.Hour, For: 9 * time.Hour}}}}}, ""),
		"compared": compared(),
	} {
		got := sketch(t, report)
		file := filepath.Join("testdata", name+".txt")
		if *update {
			testfile.Write(t, got, file)
		}
		if at := difference(got, testfile.Read(t, file)); at != "" {
			t.Errorf("%s is not what is drawn (-update writes it): %s", file, at)
		}
	}
}

// sketch lists the words and shapes of a report.
func sketch(t *testing.T, r *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%v\n%s", r.Title, r.Figures, r.Table)
	for _, p := range r.Pictures {
		fmt.Fprintf(&b, "\n%s: %s\n%s\n", p.Name, p.Title, p.Note)
		var here string // of a text, which follows
		for d := xml.NewDecoder(bytes.NewReader(p.drawn())); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			must.OK(t, err)
			switch e := token.(type) {
			case xml.CharData:
				if here != "" {
					fmt.Fprintf(&b, "%s %s\n", here, e)
				}
			case xml.EndElement:
				here = ""
			case xml.StartElement:
				of := map[string]string{}
				for _, a := range e.Attr {
					of[a.Name.Local] = a.Value
				}
				style := plainStyle.ReplaceAllString(of["style"], "")
				switch e.Name.Local {
				case "svg":
					fmt.Fprintln(&b, of["viewBox"])
				case "text":
					here = rounded(of["x"]+" "+of["y"]) + " " + style
					if strings.Contains(of["transform"], "rotate") {
						here += " upwards"
					}
				case "path":
					if style == "stroke:#24292F;stroke-width:0.5" { // a tick, below its label
						continue
					}
					fmt.Fprintln(&b, style, rounded(strings.ReplaceAll(of["d"], "L", " ")))
				case "image":
					fmt.Fprintln(&b, "image", rounded(of["x"]+" "+of["y"]+" "+of["width"]+" "+of["height"]))
				}
			}
		}
	}
	return b.String()
}

var (
	number     = regexp.MustCompile(`-?\d+(\.\d+)?`)
	plainStyle = regexp.MustCompile(`font-(family|variant|weight|style):[^;]*;|fill:none;|;fill:#24292F|;stroke-linecap:[a-z]*|fill:#-8.*`)
)

func rounded(text string) string {
	return number.ReplaceAllStringFunc(text, func(n string) string {
		x, err := strconv.ParseFloat(n, 64)
		if err != nil {
			return n
		}
		return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
	})
}

// difference returns the first difference between two texts. Numbers may differ by a tenth, since
// processors round in different ways.
func difference(got, want string) string {
	a, b := number.FindAllString(got, -1), number.FindAllString(want, -1)
	if n := len(a); number.ReplaceAllString(got, "0") == number.ReplaceAllString(want, "0") && n == len(b) {
		near := func(x, y string) bool {
			p, err := strconv.ParseFloat(x, 64)
			q, err2 := strconv.ParseFloat(y, 64)
			return x == y || err == nil && err2 == nil && math.Abs(p-q) < 0.11 && strings.Contains(x+y, ".")
		}
		if slices.EqualFunc(a, b, near) {
			return ""
		}
	}
	have, wanted := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range have {
		if i >= len(wanted) || have[i] != wanted[i] {
			return fmt.Sprintf("line %d: %s\nwant %s", i+1, have[i],
				strings.Join(wanted[min(i, len(wanted)):min(i+1, len(wanted))], ""))
		}
	}
	return "it ends early"
}
