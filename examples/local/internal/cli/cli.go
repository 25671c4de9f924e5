// Package cli holds the commands of the program.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/examples/local/internal/patience"
	"github.com/batchplan/batchplan/examples/local/internal/store"
)

// The exit statuses of the program.
const (
	exitComplete    = 0   // all jobs completed
	exitFailed      = 1   // a job failed, was removed, or is suspended by its manifest
	exitBadInput    = 2   // the command or a manifest is wrong; nothing was run
	exitBroken      = 3   // the runner gave up, for example on a full disk; another run resumes
	exitInterrupted = 130 // Ctrl-C: another run resumes
)

// program is one invocation of the program.
type program struct {
	in       io.Reader
	out, err io.Writer
	// caller is the folder of the user's shell; relative paths start there.
	caller string
	state  string
	status int
}

// Main runs a command and returns the exit status.
func Main(args []string, in io.Reader, out, errOut io.Writer) int {
	p := &program{in: in, out: out, err: errOut, caller: callerDir()}
	root := &cobra.Command{
		Use:           "local",
		Short:         "Run Kubernetes Jobs and CronJobs as processes of this machine",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.PersistentFlags().StringVar(&p.state, "state", ".batchplan", "folder that holds all state")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(p.runCommand(), p.nextCommand(), p.triggerCommand(), p.statusCommand(), p.logsCommand(), p.removeCommand())
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	if err := root.Execute(); err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			fmt.Fprintln(errOut, "error:", line)
		}
		if p.status == 0 || p.status == exitBadInput {
			p.status = exitBadInput
			if patience.IsTransient(err) {
				p.status = exitBroken
			}
		}
	}
	return p.status
}

// callerDir returns the folder of the user's shell. It is the working folder,
// except under "go run -C DIR": then the go command starts the program in DIR and
// leaves the user's folder in PWD.
func callerDir() string {
	wd, err := os.Getwd()
	if err != nil {
		return "."
	}
	exe, err := os.Executable()
	caller := os.Getenv("PWD")
	if err != nil || !filepath.IsAbs(caller) || !strings.Contains(exe, string(filepath.Separator)+"go-build") {
		return wd
	}
	if info, err := os.Stat(caller); err != nil || !info.IsDir() {
		return wd
	}
	return caller
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
