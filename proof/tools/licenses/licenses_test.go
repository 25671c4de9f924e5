package licenses

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write results/licenses.md")

const root = "../../.."

// imports are the ways to import production code: a folder, arguments of go list, and a name for the table.
var imports = []struct {
	name, dir string
	args      []string
}{
	{"library", ".", []string{"./job/...", "./cronjob/...", "./schedule/...", "./backoff/...", "./expectations/...", "./release/..."}},
	{"kubernetes", "kubernetes", []string{"./..."}},
	{"kubernetes", "kubernetes", []string{"-modfile=newest.mod", "./..."}},
	{"kit", ".", []string{"./kit/..."}},
	{"kit", "kit/blackbox", []string{"./..."}},
	{"batchplan-controller", "cmd/batchplan-controller", []string{"."}},
	{"batchrun", "cmd/batchrun", []string{"."}},
	{"batchsim", "cmd/batchsim", []string{"."}},
	{"batchwhy", "cmd/batchwhy", []string{"."}},
	{"jobcheck", ".", []string{"./cmd/jobcheck"}},
}

// TestLicenses: the table names all that is linked, and no more. What users import for production
// links no MPL-2.0.
func TestLicenses(t *testing.T) {
	linkedBy, licenses := map[string][]string{}, map[string]string{}
	for _, i := range imports {
		args := append([]string{"list", "-deps", "-f", `{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}`}, i.args...)
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Stderr = filepath.Join(root, i.dir), os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(i.name, err)
		}
		for line := range strings.Lines(string(out)) {
			path, dir, found := strings.Cut(strings.TrimSpace(line), " ")
			if !found || strings.HasPrefix(path, "github.com/batchplan/batchplan") {
				continue
			}
			if !slices.Contains(linkedBy[path], i.name) {
				linkedBy[path] = append(linkedBy[path], i.name)
			}
			if licenses[path], err = licenseOf(dir); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	var b strings.Builder
	b.WriteString("# Licenses\n\nThe modules whose packages are linked into a program that imports the library, the adapter for Kubernetes or the test kits, and into\neach command, on Linux. Tests and proofs link more. `go test ./licenses -update` in `proof/tools` writes this table.\n\n| module | license | linked by |\n|---|---|---|\n")
	for _, path := range slices.Sorted(maps.Keys(linkedBy)) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", path, licenses[path], strings.Join(linkedBy[path], ", "))
		for _, name := range []string{"library", "kubernetes"} {
			if licenses[path] == "MPL-2.0" && slices.Contains(linkedBy[path], name) {
				t.Errorf("%s links %s, which is MPL-2.0", name, path)
			}
		}
	}
	if len(linkedBy) < 10 || licenses["github.com/robfig/cron/v3"] != "MIT" {
		t.Fatalf("only %v", linkedBy)
	}
	file := root + "/results/licenses.md"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != b.String() {
		t.Errorf("results/licenses.md is not what is linked (%v): see -update", err)
	}
}

// texts are sentences that only one license has. The first that is found decides.
var texts = []struct{ license, sentence string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"MPL-2.0", "Mozilla Public License Version 2.0"},
	{"MPL-2.0", "Mozilla Public License, version 2.0"},
	{"BSD-3-Clause", "may be used to endorse or promote products"},
	{"BSD-2-Clause", "Redistributions in binary form must reproduce"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose"},
	{"ISC", "Permission to use, copy, modify, and distribute this software for any purpose"},
	{"FTL or GPL-2.0", "FreeType"},
	{"MIT", "Permission is hereby granted, free of charge"},
	{"CC-BY-4.0", "Creative Commons Attribution 4.0"},
	{"CC-BY-4.0", "creativecommons.org/licenses/by/4.0"},
	{"CC-BY-3.0", "Creative Commons Attribution 3.0"},
	{"Unlicense", "free and unencumbered software released into the public domain"},
}

// named are the files that hold licenses.
var named = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying`)

// licenseOf reads which license a module has.
func licenseOf(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var names []string
	for _, e := range entries {
		if named.MatchString(e.Name()) && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		words := strings.Join(strings.Fields(string(data)), " ")
		for _, t := range texts {
			if strings.Contains(words, t.sentence) {
				return t.license, nil
			}
		}
	}
	return "", fmt.Errorf("no license known here in %s: %q", dir, names)
}
