package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/batchplan/batchplan/x/proof/tools/publish"
)

// section is the section of CHANGELOG.md about a version.
type section struct{ text, api string }

// newestVersion returns the version of the first section.
func newestVersion(changelog string) (string, error) {
	for _, found := range regexp.MustCompile(`(?m)^## (\S+)`).FindAllStringSubmatch(changelog, -1) {
		if semver.IsValid(found[1]) {
			return found[1], nil
		}
	}
	return "", errors.New("CHANGELOG.md has no section of a version")
}

// sectionOf returns the section of a version. The section must have both parts.
func sectionOf(changelog, version string) (section, error) {
	_, rest, found := strings.Cut(changelog, "\n## "+version+"\n")
	if !found {
		return section{}, fmt.Errorf("CHANGELOG.md has no section %q", "## "+version)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	_, after, found := strings.Cut(text, "\n### API\n")
	api, semantics, both := strings.Cut(after, "\n### Semantics\n")
	isEmpty := strings.TrimSpace(api) == "" || strings.TrimSpace(semantics) == ""
	if !found || !both || isEmpty {
		return section{}, fmt.Errorf(
			"CHANGELOG.md: %s needs the parts API and Semantics; if nothing has changed, say so", version)
	}
	return section{strings.TrimSpace(text), api}, nil
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// names reports whether a part of the changelog has a name in a code span, alone or behind a
// package name.
func names(api, name string) bool {
	for _, span := range codeSpan.FindAllStringSubmatch(api, -1) {
		if span[1] == name || strings.HasSuffix(span[1], "."+name) || strings.HasSuffix(span[1], "/"+name) {
			return true
		}
	}
	return false
}

// notes prints the text for the page of a release: the section, and how to get each module.
func (r release) notes() error {
	text, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	s, err := sectionOf(string(text), r.version)
	if err != nil {
		return err
	}

	modules, err := publish.Tree(r.root, r.version)
	if err != nil {
		return err
	}

	fmt.Printf("# %s\n\n%s\n\n### Modules\n\n", r.version, s.text)
	for _, m := range modules {
		verb := "get"
		if _, err := os.Stat(filepath.Join(r.root, m.Dir, "main.go")); err == nil {
			verb = "install"
		}
		fmt.Printf("    go %s %s@%s\n", verb, m.Path, m.Version)
	}

	fmt.Println("\ndocs/compatibility.md says what they work with.")
	return nil
}
