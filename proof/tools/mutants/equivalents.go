package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// equivalents holds the mutants that no input can distinguish from the original, by
// key, each with its reason.
type equivalents map[string]string

// readEquivalents reads a file of paragraphs: a line with the key, as the output
// has it without line and column, and indented lines with the reason. Lines that
// begin with # are comments.
func readEquivalents(path string) (equivalents, error) {
	known := equivalents{}
	if path == "" {
		return known, nil
	}
	text, err := os.ReadFile(path)
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
				return nil, fmt.Errorf("%s:%d: %q is there twice", path, i+1, key)
			}
			known[key] = ""
		case key == "":
			return nil, fmt.Errorf("%s:%d: a reason without a mutant", path, i+1)
		default:
			known[key] = strings.TrimSpace(known[key] + " " + reason)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(known)) {
		if known[key] == "" {
			return nil, fmt.Errorf("%s: %q has no reason", path, key)
		}
	}
	return known, nil
}

// stale returns the keys in these packages that name no mutant.
func (known equivalents) stale(all []*mutant, folders []string) []string {
	found := map[string]bool{}
	for _, m := range all {
		found[m.key()] = true
		found[m.family()] = true
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(known)) {
		name, _, _ := strings.Cut(key, "  ")
		folder := name[:max(strings.LastIndexByte(name, '/'), 0)]
		if slices.Contains(folders, folder) && !found[key] {
			out = append(out, key)
		}
	}
	return out
}
