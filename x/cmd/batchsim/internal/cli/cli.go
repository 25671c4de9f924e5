// Package cli is the command line.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/x/cmd/batchsim/internal/picture"
	"github.com/batchplan/batchplan/x/cmd/batchsim/internal/scenario"
	"github.com/batchplan/batchplan/x/cmd/batchsim/internal/traces"
	"github.com/batchplan/batchplan/x/cmd/internal/command"
	"github.com/batchplan/batchplan/x/cmd/internal/terminal"
	"github.com/batchplan/batchplan/x/sim"
)

// Main runs the command with the arguments, reports its error, and returns the exit status.
func Main(ctx context.Context, args []string, out, errs io.Writer) int {
	err := run(ctx, args, terminal.NewWriter(out), terminal.NewWriter(errs))
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		command.Report(errs, "batchsim", errors.New("interrupted"))
		return command.Interrupted
	}
	command.Report(errs, "batchsim", err)
	return command.Usage
}

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	root := &cobra.Command{
		Use:     "batchsim",
		Version: command.Version(),
		Short:   "Simulate jobs and CronJobs on nodes in virtual time",
		Long: `Simulate jobs and CronJobs on nodes in virtual time.

Exit status: 0 done; 2 the command or its input is wrong; 130 interrupted.`,
		Example: `  batchsim run day.yaml --out report     # a scenario, with pictures
  batchsim run job.yaml --set nodes.0.count=3
  batchsim compare day.yaml --variant 'as it is:' --variant 'patient: options.backoff.base=1m'
  batchsim why day.yaml backup-3 8h10m   # what the controller knew and decided`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}

	root.AddCommand(runCommand(), compareCommand(), sweepCommand(), mergeCommand(), manifestCommand(), whyCommand())

	for _, c := range root.Commands() {
		if right := c.Args; right != nil {
			c.Args = func(c *cobra.Command, args []string) error {
				if right(c, args) != nil {
					return fmt.Errorf("wrong number of arguments, %d: expected %s; see %s -h", len(args),
						c.UseLine(), c.CommandPath())
				}
				return nil
			}
		}
	}

	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s -h", err, c.CommandPath())
	})

	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	return root.ExecuteContext(ctx)
}

// input is what all commands read: files and settings.
type input struct {
	settings []string
	until    time.Duration
	seed     uint64
}

func (in *input) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&in.settings, "set", nil,
		"set a value of the scenario, such as nodes.0.count=50 or jobs.backoffLimit=3; repeatable")
	f.DurationVar(&in.until, "until", 0, "end of the simulated time, such as 24h; required with CronJobs")
	f.Uint64Var(&in.seed, "seed", 1, "seed of all draws")
}

// load reads the scenario with additional settings.
func (in *input) load(files []string, more ...string) (*scenario.Scenario, error) {
	var settings []scenario.Setting
	for _, text := range append(append([]string{}, in.settings...), more...) {
		s, err := scenario.ParseSetting(text)
		if err != nil {
			return nil, err
		}
		settings = append(settings, s)
	}
	if in.until < 0 {
		return nil, fmt.Errorf("--until %v: must not be negative", in.until)
	}
	if in.until > 0 {
		settings = append(settings, scenario.Setting{Path: "until", Value: in.until.String()})
	}
	return scenario.Load(inputs(files), settings)
}

// inputs resolves the paths of files to read.
func inputs(files []string) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = command.Input(f)
	}
	return out
}

func runCommand() *cobra.Command {
	var in input
	var dir, plans, perfetto, focus string
	c := &cobra.Command{
		Use:   "run FILE...",
		Short: "Simulate a scenario, manifests or traces, and say what happened",
		Example: `  batchsim run day.yaml
  batchsim run job.yaml jobs.csv trace.swf.gz --until 24h --set nodes.0.count=50
  batchsim run day.yaml --seed 7 --out report --trace trace.json`,
		Args: cobra.MinimumNArgs(1),

		RunE: func(c *cobra.Command, files []string) (err error) {
			s, err := in.load(files)
			if err != nil {
				return err
			}

			w := s.World(in.seed)
			var closers []func() error
			if plans != "" {
				f, err := os.Create(command.Path(plans))
				if err != nil {
					return err
				}
				lines := traces.NewLines(f)
				w.Watch = lines
				closers = append(closers, lines.Close, f.Close)
			}

			begin := time.Now()
			r, err := sim.Run(c.Context(), w)
			for _, close := range closers {
				err = errors.Join(err, close())
			}
			if err != nil {
				return err
			}

			took := time.Since(begin)
			fmt.Fprintf(c.ErrOrStderr(), "%s in %v, %.0f a second\n", value.Count(r.PodEvents, "pod event"),
				took.Round(time.Millisecond), float64(r.PodEvents)/max(took.Seconds(), 1e-9))
			if err := printResult(c.OutOrStdout(), r); err != nil {
				return err
			}
			return errors.Join(writeReport(command.Path(dir), r, focus), writePerfetto(command.Path(perfetto), r))
		},
	}

	in.flags(c)
	c.Flags().StringVar(&dir, "out", "", "write a report with pictures into this folder")
	c.Flags().StringVar(&plans, "plans", "", "write every plan with its reasons into this file, as JSON lines")
	c.Flags().StringVar(&perfetto, "trace", "", "write a trace for Perfetto and chrome://tracing into this file")
	c.Flags().StringVar(&focus, "job", "",
		"the job whose retries the report shows; the one with the most failures otherwise")
	return c
}

// printResult prints what happened in a simulation.
func printResult(out io.Writer, r *sim.Result) error {
	if r.Stopped != "" {
		fmt.Fprintf(out, "stopped %s, at %v\n", r.Stopped, r.End.Round(time.Second))
	}
	for _, m := range r.Figures() {
		value, unit := sim.Number(m.Value), m.Unit
		if unit == "s" && m.Value >= 60 {
			value, unit = time.Duration(m.Value*float64(time.Second)).Round(time.Second).String(), ""
		}
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-18s %14s %s", m.Name, value, unit), " "))
	}
	if r.Dropped > 0 {
		fmt.Fprintf(out, "pods and jobs in the sums and not in the records: %d\n", r.Dropped)
	}
	_, err := fmt.Fprintln(out, r.Open.String())
	return err
}

func writeReport(dir string, r *sim.Result, focus string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	report, err := picture.NewReport(r, focus)
	if err != nil {
		return err
	}
	return report.Write(dir)
}

func writePerfetto(file string, r *sim.Result) error {
	if file == "" {
		return nil
	}
	f, err := os.Create(filepath.Clean(file))
	if err != nil {
		return err
	}
	return errors.Join(traces.WritePerfetto(f, r), f.Close())
}
