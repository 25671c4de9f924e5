package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/exp/apidiff"
	"golang.org/x/mod/semver"
	"golang.org/x/tools/go/packages"

	"github.com/batchplan/batchplan/x/proof/tools/publish"
)

// compare fails if the exported API differs from that of the last tag in a way that the section
// does not mention: the section must name each package that has something new, and each identifier
// that is gone or changed.
func (r release) compare(modules []*publish.Module, s section) error {
	last, err := r.last()
	if err != nil {
		return err
	}
	if last == "" {
		fmt.Println("no earlier version to compare with")
		return nil
	}
	dir, err := os.MkdirTemp("", "release-last-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// The parent of the tagged commit has the same sources, and go.mod files that work without a
	// proxy.
	if _, err := r.git("worktree", "add", "-q", "--detach", filepath.Join(dir, "tree"), last+"^"); err != nil {
		return err
	}
	defer r.git("worktree", "remove", "--force", filepath.Join(dir, "tree"))
	var problems []error
	for _, m := range modules {
		before, err := api(filepath.Join(dir, "tree", m.Dir))
		if err != nil {
			return fmt.Errorf("%s: %w", last, err)
		}
		now, err := api(filepath.Join(r.root, m.Dir))
		if err != nil {
			return err
		}
		problems = append(problems, differences(before, now, s.api, isPatch(last, r.version))...)
	}
	return errors.Join(problems...)
}

// isPatch reports whether two versions have the same minor version.
func isPatch(last, version string) bool { return semver.MajorMinor(last) == semver.MajorMinor(version) }

// last returns the newest version before this one, or "".
func (r release) last() (last string, err error) {
	out, err := r.git("tag", "--list", "v*")
	for tag := range strings.FieldsSeq(out) {
		isEarlier := semver.IsValid(tag) && semver.Compare(tag, r.version) < 0
		isLater := last == "" || semver.Compare(tag, last) > 0
		if isEarlier && isLater {
			last = tag
		}
	}
	return last, err
}

// api loads the public packages of the module in a folder. A folder without a module has none.
func api(dir string) (map[string]*packages.Package, error) {
	public := map[string]*packages.Package{}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return public, nil
	}

	loaded, err := packages.Load(&packages.Config{
		Dir: dir, Env: append(os.Environ(), "GOWORK=off"),
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports |
			packages.NeedDeps | packages.NeedExportFile,
	}, "./...")
	if err != nil {
		return nil, err
	}

	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
		if isPublic(p) {
			public[p.PkgPath] = p
		}
	}
	return public, nil
}

func isPublic(p *packages.Package) bool {
	path := "/" + p.PkgPath + "/"
	for _, drawer := range []string{"/internal/", "/proof/", "/examples/"} {
		if strings.Contains(path, drawer) {
			return false
		}
	}
	return p.Name != "main"
}

// differences returns the changes that a changelog does not mention.
func differences(before, now map[string]*packages.Package, api string, patch bool) (problems []error) {
	for path, p := range before {
		if now[path] == nil && !names(api, shortPath(path)) {
			problems = append(problems,
				fmt.Errorf("%s is gone: CHANGELOG.md names %q nowhere under API", path, shortPath(path)))
		}
		if now[path] == nil && patch {
			problems = append(problems, fmt.Errorf("%s is gone: that needs a minor version", path))
		}
		_ = p
	}

	for path, p := range now {
		old := before[path]
		if old == nil {
			if !names(api, shortPath(path)) {
				problems = append(problems,
					fmt.Errorf("%s is new: CHANGELOG.md names %q nowhere under API", path, shortPath(path)))
			}
			continue
		}

		for _, c := range apidiff.Changes(old.Types, p.Types).Changes {
			name, _, _ := strings.Cut(c.Message, ":")
			switch {
			case patch && !c.Compatible:
				problems = append(problems, fmt.Errorf("%s: %s: that needs a minor version", path, c.Message))
			case !c.Compatible && !names(api, name):
				problems = append(problems,
					fmt.Errorf("%s: %s: CHANGELOG.md names %q nowhere under API", path, c.Message, name))
			case c.Compatible && !names(api, name) && !names(api, shortPath(path)):
				problems = append(problems, fmt.Errorf("%s: %s: CHANGELOG.md names neither it nor %q under API", path,
					c.Message, shortPath(path)))
			}
		}
	}
	return problems
}

// shortPath returns the changelog's name of a package: without the path of the root.
func shortPath(path string) string {
	parts := strings.SplitN(path, "/", 4)
	return parts[len(parts)-1]
}
