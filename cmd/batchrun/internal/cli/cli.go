// Package cli holds the commands of the program.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/cmd/batchrun/internal/patience"
	"github.com/batchplan/batchplan/cmd/batchrun/internal/store"
	"github.com/batchplan/batchplan/internal/command"
	"github.com/batchplan/batchplan/internal/terminal"
)

// The exit statuses of the program.
const (
	// 0: all jobs completed
	exitFailed      = 1                   // a job failed, was removed, or is suspended by its manifest
	exitBadInput    = command.Usage       // the command or a manifest is wrong; nothing was run
	exitBroken      = 3                   // the runner gave up, for example on a full disk; another run resumes
	exitInterrupted = command.Interrupted // another run resumes
)

// defaultState is the state folder without --state.
const defaultState = ".batchplan"

// program is one invocation of the program.
type program struct {
	in       io.Reader
	out, err io.Writer // control characters in what is written are neutralised
	// rawOut and rawErr take what the program draws, and logs that are not for a terminal.
	rawOut, rawErr io.Writer
	// caller is the folder of the user's shell; relative paths start there.
	caller string
	state  string
	status int
}

// Main runs a command and returns the exit status.
func Main(args []string, in io.Reader, out, errOut io.Writer) int {
	p := &program{in: in, out: terminal.NewWriter(out), err: terminal.NewWriter(errOut), rawOut: out, rawErr: errOut, caller: command.Caller()}
	root := &cobra.Command{
		Use:     "batchrun",
		Short:   "Run Kubernetes Jobs and CronJobs as processes of this machine",
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
	root.AddCommand(p.runCommand(), p.nextCommand(), p.triggerCommand(), p.statusCommand(), p.logsCommand(), p.removeCommand())
	for _, c := range root.Commands() {
		if right := c.Args; right != nil {
			c.Args = func(c *cobra.Command, args []string) error {
				if right(c, args) != nil {
					return fmt.Errorf("wrong number of arguments, %d: expected %s; see %s -h", len(args), c.UseLine(), c.CommandPath())
				}
				return nil
			}
		}
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return fmt.Errorf("%w; see %s -h", err, c.CommandPath()) })
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

// path resolves a path that the user gave, relative to the caller's folder.
func (p *program) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.caller, name)
}

// input resolves the path of a manifest. Under "go run -C DIR" it may also be
// relative to DIR, as the go command's own arguments are; the caller's folder is
// tried first.
func (p *program) input(name string) string {
	path := p.path(name)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if wd, err := os.Getwd(); err == nil && !filepath.IsAbs(name) {
			if _, err := os.Stat(filepath.Join(wd, name)); err == nil {
				return filepath.Join(wd, name)
			}
		}
	}
	return path
}

// open opens the state folder. Commands that only read do not create one.
func (p *program) open(create bool) (*store.Store, error) {
	dir := p.path(p.state)
	if err := holdsJobs(dir); err != nil && !create {
		return nil, err
	}
	return store.Open(dir)
}

// openToLook opens a state folder to read it; the folder may be read-only.
func (p *program) openToLook() (*store.Store, error) {
	dir := p.path(p.state)
	if err := holdsJobs(dir); err != nil {
		return nil, err
	}
	return store.OpenToLook(dir)
}

func holdsJobs(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "state.db")); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s has no jobs: either nothing was run here, or --state names another folder", dir)
	}
	return nil
}
