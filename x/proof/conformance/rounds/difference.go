package rounds

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// lines returns a result as text, one fact per line. The first word of a line is
// its kind.
func (r *Result) lines() []string {
	var out []string
	for _, w := range r.Writes {
		out = append(out, "write "+w)
	}
	for _, e := range r.Events {
		out = append(out, "event "+e)
	}

	if r.Requeue != "" {
		out = append(out, "requeue after "+r.Requeue)
	}
	if r.Retry {
		out = append(out, "retry")
	}

	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		out = append(out, fmt.Sprintf("metric %s %v", name, r.Metrics[name]))
	}

	if r.Memory != "" {
		out = append(out, "memory "+r.Memory)
	}
	if r.Panic != "" {
		out = append(out, "panic "+r.Panic)
	}
	return out
}

// Difference holds the lines that only one of the results has or, if only the order differs, the
// lines in another order. Lines with - are theirs, lines with + are ours. It is empty for equal
// results.
type Difference []string

func compare(theirs, ours *Result) Difference {
	a, b := theirs.lines(), ours.lines()
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}

	var out Difference
	for _, line := range a {
		if !slices.Contains(b, line) {
			out = append(out, "-"+line)
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			out = append(out, "+"+line)
		}
	}

	if len(out) == 0 && !slices.Equal(a, b) { // only the order differs, or the number of equal lines
		for _, line := range a {
			out = append(out, "-"+line)
		}
		for _, line := range b {
			out = append(out, "+"+line)
		}
	}
	return out
}

// kinds returns the first words of the lines, without - and +, sorted and without
// duplicates.
func (d Difference) kinds() string {
	seen := map[string]bool{}
	for _, line := range d {
		words := strings.Fields(line[1:])
		kind := words[0]
		if kind == "write" || kind == "metric" {
			name, _, _ := strings.Cut(words[1], "{")
			kind += " " + name
		}
		seen[kind] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(seen)), ", ")
}
