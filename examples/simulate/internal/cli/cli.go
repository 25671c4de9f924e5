// Package cli is the command line of simulate.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/examples/simulate/internal/traces"
	"github.com/batchplan/batchplan/examples/simulate/picture"
	"github.com/batchplan/batchplan/examples/simulate/scenario"
	"github.com/batchplan/batchplan/examples/simulate/sim"
)

// Main runs the command with the arguments.
func Main(ctx context.Context, args []string, out, errs io.Writer) error {
	root := &cobra.Command{
		Use:           "simulate",
		Short:         "Simulate jobs and CronJobs on nodes in virtual time",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(runCommand(), compareCommand(), sweepCommand(), mergeCommand(), manifestCommand(), whyCommand())
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
	f.StringArrayVar(&in.settings, "set", nil, "set a value of the scenario, such as nodes.0.count=50 or jobs.backoffLimit=3; repeatable")
	f.DurationVar(&in.until, "until", 0, "end of the simulated time, such as 24h; required with CronJobs")
	f.Uint64Var(&in.seed, "seed", 1, "seed of all draws")
}

// load reads the scenario with more settings.
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
	return scenario.Load(files, settings)
}

func runCommand() *cobra.Command {
	var in input
	var dir, plans, perfetto, focus string
	c := &cobra.Command{
		Use:   "run FILE...",
		Short: "Simulate a scenario, manifests or traces, and say what happened",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) (err error) {
			s, err := in.load(files)
			if err != nil {
				return err
			}
			w := s.World(in.seed)
			var closers []func() error
			if plans != "" {
				f, err := os.Create(plans)
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
			if err := printResult(c.OutOrStdout(), r, time.Since(begin)); err != nil {
				return err
			}
			return errors.Join(writeReport(dir, r, focus), writePerfetto(perfetto, r))
		},
	}
	in.flags(c)
	c.Flags().StringVar(&dir, "out", "", "write a report with pictures into this folder")
	c.Flags().StringVar(&plans, "plans", "", "write every plan with its reasons into this file, as JSON lines")
	c.Flags().StringVar(&perfetto, "trace", "", "write a trace for Perfetto and chrome://tracing into this file")
	c.Flags().StringVar(&focus, "job", "", "the job whose retries the report shows; the one with the most failures otherwise")
	return c
}

// printResult says what happened.
func printResult(out io.Writer, r *sim.Result, took time.Duration) error {
	if r.Stopped != "" {
		fmt.Fprintf(out, "stopped %s, at %v\n", r.Stopped, r.End.Round(time.Second))
	}
	for _, m := range r.Metrics() {
		if m.Value != 0 {
			fmt.Fprintf(out, "%-18s %14s %s\n", m.Name, sim.Number(m.Value), m.Unit)
		}
	}
	if r.Dropped > 0 {
		fmt.Fprintf(out, "%d pods and jobs are in the sums and not in the records\n", r.Dropped)
	}
	rate := float64(r.PodEvents) / max(took.Seconds(), 1e-9)
	_, err := fmt.Fprintf(out, "%s\n%d pod events in %v, %.0f a second\n", r.Open.String(), r.PodEvents, took.Round(time.Millisecond), rate)
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
