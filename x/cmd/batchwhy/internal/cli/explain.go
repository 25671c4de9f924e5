package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/explain"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
	"github.com/batchplan/batchplan/x/cmd/internal/terminal"
)

// explain reads the inputs and explains their Jobs and CronJobs.
func (p *program) explain(ctx context.Context, args []string) error {
	options, err := p.options()
	if err != nil {
		return err
	}

	objects := &read.Objects{Limit: p.limit}
	source, err := p.readAll(ctx, objects, args)
	if err != nil {
		return err
	}

	from := ", as requested"
	if p.at == "" {
		var warning string
		options.At, from, warning = objects.AsOf(*source, p.now(), "--at")
		if warning != "" {
			p.report(fmt.Errorf("warning: %s", warning))
		}
	}

	e := explain.New(objects, options)
	if e.Len() == 0 && objects.ProblemCount() == 0 && len(e.Report().Findings) == 0 {
		return p.nothing(objects)
	}

	report, err := p.write(e, options, from)
	if err != nil {
		return err
	}
	p.conclude(report, objects)
	return nil
}

func (p *program) options() (o explain.Options, err error) {
	o = explain.Options{Names: p.names, Plan: p.plan, Timeline: p.plot != "" || p.output == "json"}
	if p.output != "text" && p.output != "json" {
		return o, fmt.Errorf("--output: %q: must be text or json", p.output)
	}
	if p.colour != "auto" && p.colour != "always" && p.colour != "never" {
		return o, fmt.Errorf("--color: %q: must be auto, always or never", p.colour)
	}
	if p.at != "" {
		if o.At, err = parseTime(p.at); err != nil {
			return o, err
		}
	}
	if p.ahead != "" {
		o.For, err = time.ParseDuration(p.ahead)
		if err != nil || o.For <= 0 || o.For > 366*24*time.Hour {
			return o, fmt.Errorf("--for: %q: must be a duration such as 24h, at most a year", p.ahead)
		}
	}
	return o, nil
}

// nothing returns the error for an input in which no Job or CronJob was found.
func (p *program) nothing(objects *read.Objects) error {
	switch {
	case len(p.names) > 0:
		return fmt.Errorf("no Job or CronJob has the name %q", p.names[0])
	case len(objects.Pods) > 0:
		return fmt.Errorf("the input contains pods (%d) and no Job or CronJob: add these, as in kubectl get "+
			"jobs,cronjobs,pods,events -o json", len(objects.Pods))
	}
	for kind, n := range objects.Others {
		return fmt.Errorf("the input contains no Job or CronJob, only other objects such as %d of kind %s", n, kind)
	}
	return errors.New("the input contains no Job or CronJob")
}

func (p *program) printer() explain.Printer {
	width, height := p.size(p.out)
	return explain.Printer{
		Out:    p.out,
		Width:  width,
		Height: height,
		Colour: p.colour == "always" || p.colour == "auto" && isTerminal(p.out),
	}
}

// write writes the explanations, each as soon as it is ready.
func (p *program) write(e *explain.Explainer, options explain.Options, from string) (*explain.Report, error) {
	var plots []explain.Explanation
	var summary *explain.Summary
	findings := false
	printer := p.printer()
	if p.output == "text" && e.Len() > mostDetailed && !p.explainsEach() {
		summary = &explain.Summary{Command: p.detailsOf}
	}

	list := jsonList{out: terminal.NewWriter(p.out)}
	if p.output == "json" {
		list.open(options.At)
	} else if err := printer.Head(options.At, from); err != nil {
		return nil, err
	}
	for {
		one, ok := e.Next()
		if !ok {
			break
		}
		findings = findings || explain.IsWrong(one.Findings)
		if p.plot != "" && len(plots) < 100 {
			plots = append(plots, one)
		}
		var err error
		switch {
		case p.output == "json":
			err = list.add(&one)
		case summary != nil:
			summary.Add(&one)
		default:
			err = printer.Explanation(&one)
		}
		if err != nil {
			return nil, err
		}
	}
	report := e.Report()
	if findings || explain.IsWrong(report.Findings) {
		p.status = exitFindings
	}
	var err error
	switch {
	case p.output == "json":
		err = list.close(report)
	case summary != nil:
		err = printer.Summary(summary, report)
	default:
		err = printer.Report(report)
	}
	if err == nil && p.plot != "" {
		err = writePlot(output(p.plot), plots)
	}
	return report, err
}

// mostDetailed is the largest number of objects that are explained one by one. More are summarised.
const mostDetailed = 10

// explainsEach reports whether the user wants each object explained, however many there are.
func (p *program) explainsEach() bool {
	wantsMore := p.details || p.plan || p.ahead != ""
	return wantsMore || len(p.names) > 0
}

// detailsOf returns the command that explains one object of a summary.
func (p *program) detailsOf(kind, namespace, name string) string {
	if p.kubectl {
		return fmt.Sprintf("kubectl why -n %s %s/%s", namespace, kind, name)
	}
	return fmt.Sprintf("--only %s/%s/%s", kind, namespace, name)
}

func writePlot(name string, plots []explain.Explanation) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := explain.Plot(f, plots); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// conclude reports the problems of the input.
func (p *program) conclude(report *explain.Report, objects *read.Objects) {
	if objects.ProblemCount() == 0 {
		return
	}
	p.status = exitBadInput
	const most = 20
	for i, problem := range report.Problems {
		if i == most {
			break
		}
		p.report(problem)
	}
	if more := objects.ProblemCount() - most; more > 0 {
		p.report(fmt.Errorf("and %d more", more))
	}
}

// jsonList writes a report piece by piece.
type jsonList struct {
	out   io.Writer
	count int
	err   error
}

func (l *jsonList) print(format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.out, format, args...)
	}
}

func (l *jsonList) open(at time.Time) {
	stamp, _ := json.Marshal(at.UTC()) // a time always encodes
	l.print("{\n  \"schemaVersion\": %d,\n  \"at\": %s,\n  \"objects\": [", explain.SchemaVersion, stamp)
}

func (l *jsonList) add(x *explain.Explanation) error {
	data, err := encode(x, "    ")
	if err != nil {
		return err
	}
	if l.count++; l.count > 1 {
		l.print(",")
	}
	l.print("\n    %s", data)
	return l.err
}

// encode encodes a value as JSON and does not escape angle brackets.
func encode(v any, prefix string) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(prefix, "  ")
	err := encoder.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

func (l *jsonList) close(r *explain.Report) error {
	l.print("\n  ]")
	for _, part := range []struct {
		name  string
		count int
		value any
	}{{"findings", len(r.Findings), r.Findings}, {"problems", len(r.Problems), r.Problems},
		{"moreProblems", r.MoreProblems, r.MoreProblems}} {
		if part.count == 0 {
			continue
		}
		data, err := encode(part.value, "  ")
		if err != nil {
			return err
		}
		l.print(",\n  %q: %s", part.name, data)
	}
	l.print("\n}\n")
	return l.err
}
