package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/x/proof/tools/publish"
)

func main() {
	root := flag.String("root", ".", "the repository")
	keep := flag.Bool("keep", false, "keep the temporary folder")
	match := flag.String("match", "", "only the checks whose name has this in it")
	flag.Parse()
	if err := run(*root, *match, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "outside:", err)
		os.Exit(1)
	}
}

// outside is a folder with programs, and the module proxy that they use.
type outside struct {
	repository string
	dir        string // of the programs
	bin        string
	version    string
	modules    []*publish.Module
	env        []string
	start      time.Time
}

func run(repository, match string, keep bool) (err error) {
	repository, err = filepath.Abs(repository)
	if err != nil {
		return err
	}

	dir, err := os.MkdirTemp("", "outside-")
	if err != nil {
		return err
	}
	if !keep {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}

	o := &outside{
		repository: repository, dir: dir, bin: filepath.Join(dir, "bin"), start: time.Now(),
		version: fmt.Sprintf("v0.0.0-outside.%d", time.Now().UnixNano()),
	}
	if o.modules, err = publish.Tree(repository, o.version); err != nil {
		return err
	}

	proxy := filepath.Join(dir, "proxy")
	if err := publish.Proxy(proxy, o.modules); err != nil {
		return err
	}
	if err := o.environ(proxy); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.forget()) }()

	checks := 0
	for _, check := range []struct {
		name string
		run  func() error
	}{
		{"a program that imports the root", o.imports},
		{"a program that imports convert", o.converts},
		{"a mirror of member clusters", o.mirrors},
		{"a study of spot nodes", o.spot},
		{"a round, if something were different", o.whatif},
		{"an operator with a schedule", o.operator},
		{"tasks on a service without finalizers", o.tasks},
		{"each published package alone", o.packages},
		{"a controller of a custom resource, with the oldest libraries", o.oldest},
		{"the same with the newest", o.newest},
		{"every command by its version", o.installs},
		{"jobcheck as a tool", o.tool},
	} {
		if !strings.Contains(check.name, match) {
			continue
		}
		checks++
		fmt.Printf("== %s (%.0f s)\n", check.name, time.Since(o.start).Seconds())
		if err := check.run(); err != nil {
			return fmt.Errorf("%s: %w", check.name, err)
		}
	}

	if checks == 0 {
		return fmt.Errorf("no check has %q in its name", match)
	}
	fmt.Printf("== done (%.0f s)\n", time.Since(o.start).Seconds())
	return nil
}

// environ prepares the environment of the go command: our modules come from the proxy, all others
// from their usual sources.
func (o *outside) environ(proxy string) error {
	out, err := exec.Command("go", "env", "GOPROXY", "GONOSUMDB").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	lines := strings.Split(string(out), "\n")
	ours := o.modules[0].Path
	o.env = append(os.Environ(),
		"GOPROXY=file://"+filepath.ToSlash(proxy)+","+lines[0],
		"GONOSUMDB="+strings.Trim(ours+","+lines[1], ","),
		"GOWORK=off", "GOFLAGS=", "GOBIN="+o.bin)
	return nil
}

// forget removes the version from the module cache.
func (o *outside) forget() error {
	out, err := o.output(o.dir, "go", "env", "GOMODCACHE")
	if err != nil {
		return err
	}

	cache := strings.TrimSpace(out)
	for _, m := range o.modules {
		at := filepath.Join(cache, filepath.FromSlash(m.Path)+"@"+o.version)
		err := filepath.WalkDir(at, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			return os.Chmod(name, 0o777) // the go command makes them read-only
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}

		if err := os.RemoveAll(at); err != nil {
			return err
		}

		downloads, err := filepath.Glob(
			filepath.Join(cache, "cache", "download", filepath.FromSlash(m.Path), "@v", o.version+".*"))
		if err != nil {
			return err
		}
		for _, d := range downloads {
			if err := os.Remove(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// output runs a command in a folder and returns what it prints.
func (o *outside) output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, slices.Concat(o.env, []string{"PWD=" + dir})
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", filepath.Base(name), strings.Join(args, " "), err, out.String(),
			errs.String())
	}
	return out.String(), nil
}

// steps runs commands of the go command in a folder, and stops at the first that fails.
func (o *outside) steps(dir string, commands ...[]string) error {
	for _, args := range commands {
		if _, err := o.output(dir, "go", args...); err != nil {
			return err
		}
	}
	return nil
}

// program writes files into a new folder outside of the repository.
func (o *outside) program(name string, files map[string]string) (dir string, err error) {
	dir = filepath.Join(o.dir, name)
	if err := os.Mkdir(dir, 0o777); err != nil {
		return "", err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// module returns a published module by its folder.
func (o *outside) module(dir string) (*publish.Module, error) {
	for _, m := range o.modules {
		if m.Dir == dir {
			return m, nil
		}
	}
	return nil, fmt.Errorf("%s is not a published module", dir)
}
