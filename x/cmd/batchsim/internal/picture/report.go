package picture

import (
	"bytes"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/batchplan/batchplan/x/sim"
)

// Report has pictures and figures.
type Report struct {
	Title    string
	Figures  []Figure
	Table    string
	Pictures []*Picture
}

// Figure is a number with its name.
type Figure struct{ Name, Value string }

// NewReport draws a result. focus is the job whose retries are shown.
func NewReport(r *sim.Result, focus string) (*Report, error) {
	out := &Report{Title: "Simulation from " + r.Start.Format("2006-01-02 15:04 MST")}
	for _, m := range r.Figures() {
		out.Figures = append(out.Figures, Figure{m.Name, figure(m)})
	}
	if !r.Open.IsEmpty() {
		out.Figures = append(out.Figures, Figure{"at the end", r.Open.String()})
	}

	one := func(s *sim.Sketch) []sim.Sketch { return []sim.Sketch{*s} }
	retries, err := Retries(r, focus)
	if err != nil {
		return nil, err
	}

	out.add(Gantt(r), Load(r), retries, Crons(r),
		Distribution("waiting", "Time from the creation of a pod to its start", "waiting time", []string{"pods"},
			one(&r.Waiting)),
		Distribution("turnaround", "Time from the submission of a job to its end", "turnaround", []string{"jobs"},
			one(&r.Turnaround)),
		Distribution("delay", "Delay of the runs of CronJobs", "delay", []string{"runs"}, one(&r.RunDelay)))
	return out, nil
}

// figure formats a value with a readable unit.
func figure(m sim.Metric) string {
	if m.Unit == "s" && m.Value >= 60 {
		return duration(m.Value).Round(time.Second).String()
	}
	return strings.TrimSpace(sim.Number(m.Value) + " " + m.Unit)
}

// NewComparison draws a comparison.
func NewComparison(c *sim.Comparison, s *Samples) *Report {
	out := &Report{Title: "Comparison", Table: c.String()}
	for m := range c.Metrics {
		if differs(c, m) {
			out.add(Estimates(c, m))
		}
	}
	out.add(
		Distribution("waiting", "Time from the creation of a pod to its start", "waiting time", c.Variants, s.waiting),
		Distribution("turnaround", "Time from the submission of a job to its end", "turnaround", c.Variants,
			s.turnaround),
		Distribution("delay", "Delay of the runs of CronJobs", "delay", c.Variants, s.delay))
	return out
}

// differs reports whether a metric differs between the variants.
func differs(c *sim.Comparison, metric int) bool {
	for v := range c.Variants {
		if c.Estimate(v, metric).Mean != c.Estimate(0, metric).Mean {
			return true
		}
	}
	return false
}

func (r *Report) add(pictures ...*Picture) {
	for _, p := range pictures {
		if p != nil {
			r.Pictures = append(r.Pictures, p)
		}
	}
}

// Write writes report.html, which contains everything. It also writes each picture as an SVG and a
// PNG file.
func (r *Report) Write(dir string) error {
	for _, p := range r.Pictures {
		if err := os.WriteFile(filepath.Join(dir, p.Name+".svg"), p.SVG(), 0o644); err != nil {
			return err
		}
		data, err := p.PNG()
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, p.Name+".png"), data, 0o644); err != nil {
			return err
		}
	}
	data, err := r.HTML()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "report.html"), data, 0o644)
}

var page = template.Must(template.New("report").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>{{.Title}}</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:1060px;margin:2em auto;padding:0 1em;background:#fff;color:#24292f}
svg{width:100%;height:auto}figure{margin:2em 0}figcaption{opacity:.75}
table{border-collapse:collapse}td,th{padding:.1em 1em .1em 0;text-align:left;font-variant-numeric:tabular-nums}
pre{overflow-x:auto}
@media(prefers-color-scheme:dark){body{background:#14181d;color:#d7dde4}}
</style>
<h1>{{.Title}}</h1>
{{if .Figures}}<table>{{range .Figures}}<tr><th>{{.Name}}</th><td>{{.Value}}</td></tr>{{end}}</table>{{end}}
{{if .Table}}<pre>{{.Table}}</pre>{{end}}
{{range .Drawings}}<figure>{{.SVG}}{{if .Note}}<figcaption>{{.Note}}</figcaption>{{end}}</figure>
{{end}}</html>
`))

// drawing is a picture as part of a page.
type drawing struct {
	SVG  template.HTML
	Note string
}

// HTML returns the report as one page.
func (r *Report) HTML() ([]byte, error) {
	data := struct {
		*Report
		Drawings []drawing
	}{Report: r}
	for _, p := range r.Pictures {
		svg := p.SVG()
		svg = svg[bytes.Index(svg, []byte("<svg")):] // inside a page, an SVG has no prolog
		data.Drawings = append(data.Drawings, drawing{template.HTML(svg), p.Note})
	}
	var b bytes.Buffer
	err := page.Execute(&b, data)
	return b.Bytes(), err
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

func fileName(text string) string { return notInNames.ReplaceAllString(strings.ToLower(text), "-") }

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
