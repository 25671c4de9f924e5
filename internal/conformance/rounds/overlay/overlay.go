// Package overlay builds a test binary in which single rounds of the controllers of
// Kubernetes can be called, and their memory set and read. A build overlay adds one
// file to each of their packages and changes no existing file.
package overlay

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Tag is the build tag of the code that needs the overlay.
const Tag = "rounds"

// module is the module that the controllers are in.
const module = "k8s.io/kubernetes"

//go:embed testdata/*.go
var exports embed.FS

// packages are the packages that get a file, by its name in testdata.
var packages = map[string]string{
	"job.go":     "pkg/controller/job",
	"cronjob.go": "pkg/controller/cronjob",
}

// Build compiles the tests of a package of this module, with the overlay, into the
// file out. The package's path is relative to the module's root. More files can be
// replaced.
func Build(pkg, out string, more map[string]string) error {
	work, err := os.MkdirTemp("", "rounds-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	root, err := list("{{.Dir}}", "-m")
	if err != nil {
		return err
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	if err := write(root, work, more); err != nil {
		return err
	}
	return run(root, "go", "test", "-c", "-vet=off", "-tags="+Tag, "-o="+out,
		"-overlay="+filepath.Join(work, "overlay.json"), "-modfile="+filepath.Join(work, "go.mod"), pkg)
}

// write writes the overlay and a go.mod that goes with it. Go does not let an overlay
// touch the module cache, so the module is reached through a link.
func write(root, work string, more map[string]string) error {
	dir, err := list("{{.Dir}}", "-m", module)
	if err != nil {
		return err
	}
	link, err := linkTo(dir)
	if err != nil {
		return err
	}
	replace := map[string]string{}
	maps.Copy(replace, more)
	for name, pkg := range packages {
		content, err := exports.ReadFile("testdata/" + name)
		if err != nil {
			return err
		}
		file := filepath.Join(work, name)
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return err
		}
		replace[filepath.Join(link, filepath.FromSlash(pkg), "zz_rounds.go")] = file
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(work, "overlay.json"), data, 0o644); err != nil {
		return err
	}
	for _, name := range [...]string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(work, name), content, 0o644); err != nil {
			return err
		}
	}
	return run(root, "go", "mod", "edit", "-replace="+module+"="+link, filepath.Join(work, "go.mod"))
}

// linkTo returns a link to a folder. It is the same each time, so that Go's build
// cache stays valid.
func linkTo(dir string) (string, error) {
	caches, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	links := filepath.Join(caches, "batchplan-rounds")
	if err := os.MkdirAll(links, 0o755); err != nil {
		return "", err
	}
	link := filepath.Join(links, filepath.Base(dir))
	if to, err := os.Readlink(link); err == nil && to == dir {
		return link, nil
	}
	fresh := fmt.Sprintf("%s.%d", link, os.Getpid())
	if err := os.Symlink(dir, fresh); err != nil {
		return "", err
	}
	return link, os.Rename(fresh, link)
}

// list asks Go about a module: the main one, or the one named.
func list(format string, args ...string) (string, error) {
	out, err := exec.Command("go", append([]string{"list", "-f=" + format}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("go list %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

func run(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
