package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/batchplan/batchplan/x/proof/tools/publish"
)

// packages imports each published package alone, several at a time. "go mod tidy" also resolves the
// modules that the tests of imported packages need, so a test can break an importer.
func (o *outside) packages() error {
	var (
		importers atomic.Int64
		running   errgroup.Group
	)
	running.SetLimit(runtime.NumCPU())

	for _, m := range o.modules {
		found, err := o.importable(m)
		if err != nil {
			return errors.Join(err, running.Wait())
		}
		for _, p := range found {
			running.Go(func() error {
				n, err := o.alone(m, p)
				if err != nil {
					return fmt.Errorf("%s: %w", p, err)
				}
				importers.Add(int64(n))
				return nil
			})
		}
	}

	err := running.Wait()
	fmt.Printf("%d importers\n", importers.Load())
	return err
}

// importable returns the packages of a module that others may import.
func (o *outside) importable(m *publish.Module) (found []string, err error) {
	out, err := o.output(filepath.Join(o.repository, m.Dir), "go", "list", "-f",
		`{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}`, "./...")
	for _, p := range strings.Fields(out) {
		parts := strings.Split(strings.TrimPrefix(p, m.Path), "/")
		if !slices.Contains(parts, "internal") && !slices.Contains(parts, "proof") &&
			!slices.Contains(parts, "examples") {
			found = append(found, p)
		}
	}
	return found, err
}

// alone imports a package once with nothing pinned, and once for each go.mod file of its module.
// For such a file, the libraries of Kubernetes that the package uses are pinned to the versions in
// it. alone returns the number of importers.
func (o *outside) alone(m *publish.Module, pkg string) (importers int, err error) {
	dir, err := o.importer(pkg, "free", "", nil)
	if err != nil {
		return 0, fmt.Errorf("nothing pinned: %w", err)
	}
	importers++

	linked, err := o.compiled(dir)
	if err != nil {
		return importers, err
	}

	for _, file := range []string{"go.mod", "newest.mod"} {
		versions, err := versionsOf(filepath.Join(o.repository, m.Dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return importers, err
		}

		var pins []string
		for _, l := range libraries {
			if v := versions[l]; v != "" && linked[l] != "" {
				pins = append(pins, l+"@"+v)
			}
		}
		if len(pins) == 0 {
			continue
		}
		if _, err := o.importer(pkg, strings.TrimSuffix(file, ".mod"), versions["go"], pins); err != nil {
			return importers, fmt.Errorf("with %s: %w", strings.Join(pins, " "), err)
		}
		importers++
	}
	return importers, nil
}

// importer makes a package that imports the package pkg, and nothing else. Its module requires only
// the module of pkg and the pins. The package is compiled before its module is tidied, and again
// afterwards. It is not linked: other checks link the controllers, with the same libraries.
func (o *outside) importer(pkg, kind, version string, pins []string) (dir string, err error) {
	name := kind + "-" + strings.NewReplacer("/", "-", ".", "-").Replace(pkg)
	dir, err = o.program(name,
		map[string]string{"importer.go": fmt.Sprintf("package importer\n\nimport _ %q\n", pkg)})
	if err != nil {
		return "", err
	}
	commands := [][]string{{"mod", "init", "example.com/" + name}}
	if version != "" {
		commands = append(commands, []string{"mod", "edit", "-go=" + version})
	}
	get := append([]string{"get", pkg + "@" + o.version}, pins...)
	commands = append(commands, get, []string{"build", "."}, []string{"mod", "tidy"}, []string{"build", "."})
	if err := o.steps(dir, commands...); err != nil {
		return "", err
	}

	for _, pin := range pins {
		path, want, _ := strings.Cut(pin, "@")
		got, err := o.output(dir, "go", "list", "-m", "-f", "{{.Version}}", path)
		if err != nil {
			return "", err
		}
		if strings.TrimSpace(got) != want {
			return "", fmt.Errorf("%s is %s after it was tidied", pin, strings.TrimSpace(got))
		}
	}
	return dir, nil
}
