package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// runs has, for each tested command, the arguments of a run in the repository and a part of its
// output. Of all other commands, only --version is tested.
var runs = map[string]struct {
	args []string
	want string
}{
	"batchwhy": {
		[]string{"x/cmd/batchwhy/internal/explain/testdata/situations/suspended/input", "--at", "2026-10-14T09:30:00Z"},
		"suspended",
	},
	"batchrun": {[]string{"next", "x/cmd/batchrun/testdata/cron.yaml"}, ":"},
	"batchsim": {[]string{"run", "x/cmd/batchsim/testdata/day.yaml"}, "jobs"},
	"jobcheck": {[]string{"-questions", "10", "-seed", "1", "-sample", "3"}, `"id"`},
}

func (o *outside) installs() error {
	commands, err := o.commands()
	if err != nil {
		return err
	}
	for _, c := range commands {
		name := path.Base(c)
		if err := o.steps(o.dir, []string{"install", c + "@" + o.version}); err != nil {
			return err
		}
		if err := o.runs(filepath.Join(o.bin, name), name); err != nil {
			return err
		}
	}
	for name := range runs {
		if _, err := os.Stat(filepath.Join(o.bin, name)); err != nil {
			return fmt.Errorf("%s was not installed", name)
		}
	}
	return nil
}

// runs checks the version and the output of a command.
func (o *outside) runs(file, name string) error {
	out, err := o.output(o.repository, file, "--version")
	if err != nil {
		return err
	}
	if !strings.Contains(out, o.version) {
		return fmt.Errorf("%s says that its version is %q", name, out)
	}
	fmt.Print(out)
	r, ok := runs[name]
	if !ok {
		return nil
	}
	out, err = o.output(o.repository, file, r.args...)
	if err == nil && !strings.Contains(out, r.want) {
		err = fmt.Errorf("%s %s: no %q in %q", name, strings.Join(r.args, " "), r.want, out)
	}
	return err
}

// commands returns the import paths of all commands.
func (o *outside) commands() (found []string, err error) {
	dirs, err := filepath.Glob(filepath.Join(o.repository, "x", "cmd", "*", "main.go"))
	for _, d := range dirs {
		found = append(found, o.modules[0].Path+"/x/cmd/"+filepath.Base(filepath.Dir(d)))
	}
	return found, err
}

// tool adds jobcheck to a module as a tool, and runs it.
func (o *outside) tool() error {
	dir, err := o.program("tool", nil)
	if err != nil {
		return err
	}
	command := o.modules[0].Path + "/x/cmd/jobcheck"
	err = o.steps(dir,
		[]string{"mod", "init", "example.com/tool"},
		[]string{"get", "-tool", command + "@" + o.version})
	if err != nil {
		return err
	}
	out, err := o.output(dir, "go", "tool", "jobcheck", "-questions", "10", "-sample", "3")
	if err == nil && !strings.Contains(out, `"id"`) {
		err = fmt.Errorf("it printed %q", out)
	}
	return err
}
