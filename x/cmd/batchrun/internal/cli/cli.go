// Package cli holds the commands of the program.
package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/patience"
	"github.com/batchplan/batchplan/x/cmd/internal/command"
	"github.com/batchplan/batchplan/x/cmd/internal/terminal"
)

// The exit statuses of the program.
const (
	// 0: all jobs completed
	exitFailed      = 1                   // a job failed, was removed, or is suspended by its manifest
	exitBadInput    = command.Usage       // the command or a manifest is wrong; nothing was run
	exitBroken      = 3                   // the runner gave up, as on a full disk; another run resumes
	exitInterrupted = command.Interrupted // another run resumes
)

// defaultState is the state folder without --state.
const defaultState = ".batchplan"

// Main runs a command and returns the exit status.
func Main(args []string, in io.Reader, out, errOut io.Writer) int {
	p := &program{
		in:     in,
		out:    terminal.NewWriter(out),
		err:    terminal.NewWriter(errOut),
		rawOut: out,
		rawErr: errOut,
		caller: command.Caller(),
	}

	root := &cobra.Command{
		Use:     "batchrun",
		Version: command.Version(),
		Long: `Run Kubernetes Jobs and CronJobs as processes of this machine.

Exit status: 0 done, and all jobs of "run" completed; 1 one failed or is suspended; 2 bad
input, nothing was run; 3 the runner gave up; 130 interrupted.`,
		Example: `  batchrun run job.yaml              # until it has ended, with what its pods print
  batchrun status                    # what there is in .batchplan
  batchrun logs hello --index 2 -f
  batchrun next backup.yaml          # when a CronJob runs`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}

	root.PersistentFlags().StringVar(&p.state, "state", defaultState, "folder that holds all state")
	root.AddCommand(p.runCommand(), p.nextCommand(), p.triggerCommand(), p.statusCommand(), p.logsCommand(),
		p.removeCommand())

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
	root.SetIn(in)
	root.SetOut(p.out)
	root.SetErr(p.err)

	if err := root.Execute(); err != nil {
		command.Report(errOut, "batchrun", err)
		if p.status == 0 || p.status == exitBadInput {
			p.status = exitBadInput
			if patience.IsTransient(err) {
				p.status = exitBroken
			}
		}
	}
	return p.status
}
