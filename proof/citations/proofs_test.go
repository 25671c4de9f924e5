package citations

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	makeTarget = regexp.MustCompile(`(?m)^([a-z]+):(?: |$)`)
	makeNamed  = regexp.MustCompile("`make ([a-z]+)[ `]")
	atCommit   = regexp.MustCompile(`^# [0-9a-f]{7,}\b`)
	pathNamed  = regexp.MustCompile("`((?:job|cronjob|kit|kubernetes|cmd|proof|docs|schedule|expectations|results|examples)/[\\w./]+)`")
)

// TestProofs compares docs/proofs.md with the Makefile and with the packages of proof: the
// page names each of them, and everything that it names exists.
func TestProofs(t *testing.T) {
	page := read(t, "docs/proofs.md")
	targets, named := found(makeTarget, read(t, "Makefile")), found(makeNamed, page)
	for _, name := range targets {
		if !slices.Contains(named, name) {
			t.Errorf("docs/proofs.md does not name make %s", name)
		}
	}
	for _, name := range named {
		if !slices.Contains(targets, name) {
			t.Errorf("docs/proofs.md names make %s, which the Makefile does not have", name)
		}
	}
	paths, packages := found(pathNamed, page), packagesBelow(t, "proof")
	for _, pkg := range packages {
		if !slices.Contains(paths, pkg) {
			t.Errorf("docs/proofs.md does not name %s", pkg)
		}
	}
	for _, name := range paths {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Errorf("docs/proofs.md names %s, which does not exist", name)
		}
	}
	if len(targets) < 15 || len(packages) < 15 {
		t.Errorf("%d targets and %d packages were found: something is not read", len(targets), len(packages))
	}
}

// TestResults: each file of results names its command, and what it was written from.
func TestResults(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "results", "*.txt"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		lines := strings.SplitN(read(t, "results/"+filepath.Base(file)), "\n", 4)
		if len(lines) < 4 || !strings.HasPrefix(lines[0], "$ ") || !atCommit.MatchString(lines[1]) || strings.TrimSpace(lines[3]) == "" {
			t.Errorf("%s: want a line with the command, one with the commit and the time, and figures", filepath.Base(file))
		}
	}
}

// found returns the first groups of all matches, each once.
func found(pattern *regexp.Regexp, text string) []string {
	set := map[string]bool{}
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		set[m[1]] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// packagesBelow returns the folders below one that hold Go files other than tests, or tests
// alone.
func packagesBelow(t *testing.T, folder string) []string {
	t.Helper()
	set := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(root, folder), func(file string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "testdata":
			return filepath.SkipDir
		case filepath.Ext(file) == ".go":
			rel, err := filepath.Rel(root, file)
			set[path.Dir(filepath.ToSlash(rel))] = true
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(set))
}
