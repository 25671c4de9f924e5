package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// program is one invocation of the program.
type program struct {
	in       io.Reader
	out, err io.Writer // they neutralise control characters
	// rawOut and rawErr write control characters unchanged. They are for live lines, and for logs
	// that do not go to a terminal.
	rawOut, rawErr io.Writer
	// caller is the folder of the user's shell. Relative paths are relative to it.
	caller string
	state  string
	status int
}

// path resolves a path that the user gave, relative to the caller's folder.
func (p *program) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.caller, name)
}

// input resolves the path of a manifest, relative to the caller's folder. If no such file exists
// there, the path may be relative to the working folder, which is DIR under "go run -C DIR".
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

// open opens the state folder. It creates a missing folder, but not for commands that only read.
func (p *program) open(create bool) (*store.Store, error) {
	dir := p.path(p.state)
	if err := holdsJobs(dir); err != nil && !create {
		return nil, err
	}
	return store.Open(dir)
}

// openToLook opens a state folder for reading. The folder may be read-only.
func (p *program) openToLook() (*store.Store, error) {
	dir := p.path(p.state)
	if err := holdsJobs(dir); err != nil {
		return nil, err
	}
	return store.OpenToLook(dir)
}

func holdsJobs(dir string) error {
	if err := store.CheckDatabase(dir); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "state.db")); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s has no jobs: either nothing was run here, or --state names another folder", dir)
	}
	return nil
}

// finished reports whether a stored job has ended.
func finished(j *store.Job) bool { return j.Status.Finished() != "" }
