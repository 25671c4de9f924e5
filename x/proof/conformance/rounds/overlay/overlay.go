// Package overlay builds a test binary in which single rounds of the controllers of
// Kubernetes can be called, and their memory set and read. A build overlay adds one
// file to each of their packages and changes no existing file.
package overlay

import (
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/proof/conformance/releases"
)

// Tag is the build tag of the code that needs the overlay.
const Tag = "rounds"

// module is the module of the controllers.
const module = "k8s.io/kubernetes"

//go:embed testdata/*.go
var exports embed.FS

// files returns the files of testdata that the build of a release gets, and the package of each. A
// number at the end of a name is the first release that the file fits.
func files(r release.Release) map[string]string {
	const job, cronjob = "pkg/controller/job", "pkg/controller/cronjob"
	out := map[string]string{"job.go": job, "cronjob.go": cronjob}
	switch {
	case !r.IsBefore(release.V137()):
		out["job_pods_137.go"], out["job_finished_134.go"] = job, job
		out["job_groups_137.go"] = job
	case !r.IsBefore(release.V136()):
		out["job_pods_136.go"], out["job_finished_134.go"] = job, job
	case !r.IsBefore(release.V134()):
		out["job_pods_134.go"], out["job_finished_134.go"] = job, job
	default:
		out["job_pods_131.go"] = job
	}
	if r.IsBefore(release.V137()) {
		out["cronjob_jobs_131.go"] = cronjob
	} else {
		out["cronjob_jobs_137.go"] = cronjob
	}
	if r.IsBefore(release.V132()) {
		out["job_uids_131.go"] = job
	} else {
		out["job_uids_132.go"] = job
	}
	return out
}

// Build compiles the tests of a package of this module, with the overlay and the controllers of a
// release, into the file out. The package's path is relative to the module's root. The argument
// more replaces further files: it maps each to its replacement.
func Build(r release.Release, pkg, out string, more map[string]string) error {
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
	mod, err := copyModule(r, root, work)
	if err != nil {
		return err
	}
	if err := write(r, mod, work, more); err != nil {
		return err
	}
	return compile(root, pkg, out, append(releases.Flags(r, mod, Tag), "-overlay="+filepath.Join(work, "overlay.json")))
}

// Plain compiles the tests of a package without the overlay of this package. If the argument
// overlay names a file, that overlay replaces files of this project.
func Plain(r release.Release, pkg, out, overlay string) error {
	work, err := os.MkdirTemp("", "plain-")
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

	mod, err := copyModule(r, root, work)
	if err != nil {
		return err
	}

	flags := releases.Flags(r, mod)
	if overlay != "" {
		flags = append(flags, "-overlay="+overlay)
	}
	return compile(root, pkg, out, flags)
}

func compile(root, pkg, out string, flags []string) error {
	return run(root, "go", append(append([]string{"test", "-c", "-o=" + out}, flags...), pkg)...)
}

// copyModule copies the go.mod and the go.sum of a release to the folder work, and downloads its
// controllers. It returns the path of the go.mod.
func copyModule(r release.Release, root, work string) (mod string, err error) {
	for _, ending := range [...]string{".mod", ".sum"} {
		content, err := os.ReadFile(releases.Named(root, r) + ending)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(work, "go"+ending), content, 0o644); err != nil {
			return "", err
		}
	}

	mod = filepath.Join(work, "go.mod")
	if r.HasPatch() {
		require := fmt.Sprintf("-require=%s@v%s", module, r.Defaults())
		if err := run(work, "go", "mod", "edit", require, mod); err != nil {
			return "", err
		}
	}

	// "go list -m" knows no folder of a module that was not downloaded.
	return mod, run(root, "go", "mod", "download", "-modfile="+mod, module)
}

// write writes the overlay, and changes the go.mod to match. An overlay cannot replace files in the
// module cache, so the go.mod names the module by a link to its folder.
func write(r release.Release, mod, work string, more map[string]string) error {
	dir, err := list("{{.Dir}}", "-m", "-modfile="+mod, module)
	if err != nil {
		return err
	}

	link, err := linkTo(dir)
	if err != nil {
		return err
	}

	replace := map[string]string{}
	maps.Copy(replace, more)
	for name, pkg := range files(r) {
		content, err := exports.ReadFile("testdata/" + name)
		if err != nil {
			return err
		}
		file := filepath.Join(work, name)
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return err
		}
		replace[filepath.Join(link, filepath.FromSlash(pkg), "zz_rounds_"+name)] = file
	}

	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(work, "overlay.json"), data, 0o644); err != nil {
		return err
	}
	return run(work, "go", "mod", "edit", "-replace="+module+"="+link, mod)
}

// linkTo returns a link to a folder. A folder always has the same link, so Go's build cache stays
// valid. Different folders have different links, so builds with different module caches do not
// disturb each other.
func linkTo(dir string) (string, error) {
	caches, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	links := filepath.Join(caches, "batchplan-rounds", fmt.Sprintf("%x", sha256.Sum256([]byte(dir)))[:16])
	if err := os.MkdirAll(links, 0o755); err != nil {
		return "", err
	}
	link := filepath.Join(links, filepath.Base(dir))
	if err := os.Symlink(dir, link); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return link, nil
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
