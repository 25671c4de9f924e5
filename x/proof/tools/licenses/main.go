// Command licenses prints the modules that programs link when they import the production packages,
// and their licenses.
//
//	make result NAME=licenses    # writes docs/results/licenses.txt again
package main

import (
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// imports are the ways to import production code: a folder, arguments of go list, and a name for
// the table.
var imports = []struct {
	name, dir string
	args      []string
}{
	{"library", ".", []string{"./job/jobapply", "./job/jobcheck", "./cronjob/cronjobapply", "./cronjob/cronjobcheck"}},
	{"kubernetes", "x/kubernetes", []string{"./..."}},
	{"kubernetes", "x/kubernetes", []string{"-modfile=newest.mod", "./..."}},
	{"kit", ".", []string{"./job/jobtest", "./cronjob/cronjobtest", "./x/..."}},
	{"kit", "x/blackbox", []string{"./..."}},
	{"batchplan-controller", "x/cmd", []string{"./batchplan-controller"}},
	{"batchrun", "x/cmd", []string{"./batchrun"}},
	{"batchsim", "x/cmd", []string{"./batchsim"}},
	{"batchwhy", "x/cmd", []string{"./batchwhy"}},
	{"jobcheck", "x/cmd", []string{"./jobcheck"}},
}

func main() {
	linked, err := read("../..")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(table(linked))
}

// module is a linked module, with the imports that link it.
type module struct {
	license  string
	linkedBy []string
}

// read returns the linked modules, by path.
func read(root string) (map[string]module, error) {
	linked := map[string]module{}
	for _, i := range imports {
		args := append(
			[]string{"list", "-deps", "-f", `{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}`},
			i.args...)
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Stderr = filepath.Join(root, i.dir), os.Stderr

		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", i.name, err)
		}

		for line := range strings.Lines(string(out)) {
			path, dir, found := strings.Cut(strings.TrimSpace(line), " ")
			m := linked[path]
			if !found || strings.HasPrefix(path, "github.com/batchplan/batchplan") ||
				slices.Contains(m.linkedBy, i.name) {
				continue
			}
			m.linkedBy = append(m.linkedBy, i.name)
			if m.license, err = licenseOf(dir); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			linked[path] = m
		}
	}
	return linked, nil
}

// table returns the text of docs/results/licenses.txt below its head.
func table(linked map[string]module) string {
	var b strings.Builder
	b.WriteString("The modules whose packages are linked, on Linux, into a program that imports the library, " +
		"the adapter for\nKubernetes or the test kits, and into each command. Tests and proofs link more.\n\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, path := range slices.Sorted(maps.Keys(linked)) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", path, linked[path].license, strings.Join(linked[path].linkedBy, ", "))
	}
	w.Flush()
	return b.String()
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

// named matches the names of files that hold licenses.
var named = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying`)

// licenseOf finds the license of the module in a folder.
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
