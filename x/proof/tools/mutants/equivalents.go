package main

import (
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// equivalents holds the mutants that no input can distinguish from the original, by
// key, each with its reason.
type equivalents map[string]string

// readEquivalents reads a file of paragraphs: a line with the key, which is a line of the output
// without line and column, and indented lines with the reason. Lines that begin with # are
// comments.
func readEquivalents(name string) (equivalents, error) {
	known := equivalents{}
	if name == "" {
		return known, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	key := ""
	for i, line := range strings.Split(string(text), "\n") {
		reason := strings.TrimSpace(line)
		switch {
		case reason == "" || strings.HasPrefix(line, "#"):
		case line[0] != ' ' && line[0] != '\t':
			key = reason
			if _, twice := known[key]; twice {
				return nil, fmt.Errorf("%s:%d: %q is there twice", name, i+1, key)
			}
			known[key] = ""
		case key == "":
			return nil, fmt.Errorf("%s:%d: a reason without a mutant", name, i+1)
		default:
			known[key] = strings.TrimSpace(known[key] + " " + reason)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(known)) {
		if known[key] == "" {
			return nil, fmt.Errorf("%s: %q has no reason", name, key)
		}
	}
	return known, nil
}

// stale returns the keys of these packages that name no mutant.
func (known equivalents) stale(all []*mutant, pkgs []*pkg) []string {
	found, folders := map[string]bool{}, map[string]bool{}
	for _, p := range pkgs {
		folders[path.Dir(p.files[0].short)] = true
	}
	for _, m := range all {
		found[m.key()] = true
		found[m.family()] = true
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(known)) {
		name, _, _ := strings.Cut(key, "  ")
		if folders[path.Dir(name)] && !found[key] {
			out = append(out, key)
		}
	}
	return out
}
