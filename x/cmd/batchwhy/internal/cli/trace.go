package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/trace"
)

type traceFlags struct {
	release     string
	controllers []string
	incomplete  bool
	limit       int
}

// traceCommand checks the writes of a cluster's controllers against the planners.
func (p *program) traceCommand() *cobra.Command {
	var f traceFlags
	cmd := &cobra.Command{
		Use:   "trace [FILE|-]...",
		Short: "Say what in a watch log or an audit log no Job or CronJob controller could have done",
		Long: `Trace reads what "kubectl get -w -o json --output-watch-events" has printed of jobs, pods and
cronjobs, or an audit log, and says what no controller of that release could have done, with
the place in the log: counters that go back, pods that are counted twice or created beyond
the limits, jobs that change after their end, runs of a CronJob that start twice.

Watch each kind into a file of its own; they are put into order by resource version. A watch
of namespaces shows which of them end, and then refuse pods. An audit log needs the level
RequestResponse for jobs, jobs/status, pods, pods/status, cronjobs and cronjobs/status. A log
may begin and end at any time, and gaps are not reported as errors. The last lines say what
could not be judged.

Exit status: 0 nothing was found; 1 something was; 2 the command is wrong, or a part of a
log cannot be read; what could be read is checked.`,
		Example: `  kubectl get jobs -A -w -o json --output-watch-events > jobs.json &
  kubectl get pods -A -w -o json --output-watch-events > pods.json &
  batchwhy trace jobs.json pods.json
  batchwhy trace --release 1.33 /var/log/kubernetes/audit.log -o json`,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, args []string) error { return p.trace(cmd, f, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.release, "release", "1.36",
		"the `release` of the controllers, with feature gates that are switched, as in 1.33,JobManagedBy=false")
	flags.StringSliceVar(&f.controllers, "controller", nil,
		"also judge the jobs whose spec.managedBy is one of these `names`")
	flags.BoolVar(&f.incomplete, "incomplete", false,
		"versions may be missing anywhere, as in what an informer has logged: check only what holds over gaps")
	flags.IntVar(&f.limit, "max-findings", 100, "the most findings to print; the others are counted")
	flags.StringVarP(&p.output, "output", "o", "text",
		"`format` of the output: text, or json: a finding a line, and the summary as the last")
	return cmd
}

func (p *program) trace(cmd *cobra.Command, f traceFlags, args []string) error {
	if p.output != "text" && p.output != "json" {
		return fmt.Errorf("--output: %q: must be text or json", p.output)
	}

	r, err := release.Parse(f.release)
	if err != nil {
		return fmt.Errorf("--release: %w", err)
	}
	logs, err := p.openLogs(args)
	if err != nil {
		return err
	}

	out := cmd.OutOrStdout()
	printed := 0
	var failed error
	print := func(found trace.Finding) {
		if printed++; printed > f.limit || failed != nil {
			return
		}
		if p.output == "json" {
			failed = json.NewEncoder(out).Encode(found)
		} else {
			_, failed = fmt.Fprintln(out, found)
		}
	}

	summary, err := trace.Check(trace.Options{Release: r, Controllers: f.controllers, Incomplete: f.incomplete},
		print, logs...)
	for _, l := range logs {
		if c, ok := l.Reader.(io.Closer); ok && l.Reader != p.in {
			c.Close()
		}
	}

	if err = errors.Join(err, failed); err != nil {
		return err
	}
	for _, part := range summary.Unread {
		p.report(fmt.Errorf("%v: %s", part.Place, part.Text))
	}

	switch {
	case summary.Unreadable > 0:
		p.status = exitBadInput
	case summary.Findings > 0:
		p.status = exitFindings
	}

	if p.output == "json" {
		return json.NewEncoder(out).Encode(summary)
	}
	_, err = io.WriteString(out, traceText(&summary, f.limit))
	return err
}

// openLogs opens the named logs, or standard input.
func (p *program) openLogs(args []string) (logs []trace.Log, err error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	for _, name := range args {
		if name == "-" {
			logs = append(logs, trace.Log{Name: "<stdin>", Reader: p.in})
			continue
		}
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		if info, err := file.Stat(); err == nil && info.IsDir() {
			return nil, fmt.Errorf("%s: is a folder: name the logs in it", name)
		}
		logs = append(logs, trace.Log{Name: name, Reader: file})
	}
	return logs, nil
}

func traceText(s *trace.Summary, limit int) string {
	var b strings.Builder
	if more := s.Findings - limit; more > 0 {
		fmt.Fprintf(&b, "and %s: --max-findings shows all\n", value.Count(more, "more finding"))
	}
	fmt.Fprintf(&b, "%s in %s of %s, %s and %s\n", value.Count(s.Findings, "finding"),
		value.Count(s.Transitions, "step"),
		value.Count(s.Jobs, "Job"), value.Count(s.Pods, "Pod"), value.Count(s.CronJobs, "CronJob"))
	for _, note := range []struct {
		n          int
		noun, text string
	}{
		{s.Unreadable, "part", "could not be read"},
		{s.Untyped, "object", "came without an event type, so versions may be missing: kubectl get needs " +
			"--output-watch-events"},
		{s.Bodiless, "audit event", "had no object: the policy needs the level RequestResponse"},
		{s.Gaps, "step", "may lack versions in between: only what holds over a gap was checked"},
		{s.Restarts, "time", "a watch began anew: what did not come again was not used"},
		{s.Repeated, "version", "passed over that came again or out of order"},
		{s.Unjudged, "creation", "not compared with an owner, which the log does not show"},
		{s.Undecided, "finding", "dropped, since a watch may have begun anew just before"},
		{s.Others, "record", "of another kind passed over"},
	} {
		if note.n > 0 {
			fmt.Fprintf(&b, "  %s %s\n", value.Count(note.n, note.noun), note.text)
		}
	}
	return b.String()
}
