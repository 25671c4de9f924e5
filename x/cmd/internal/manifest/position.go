package manifest

import (
	"fmt"
	"strings"
)

// Position is a place in an input.
type Position struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String returns file:line:column, the form that editors recognise, or the part of it that is known.
func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Problem is something in the input that cannot be used.
type Problem struct {
	Position
	Text string `json:"text"`
}

// Error returns the position and the problem.
func (p Problem) Error() string { return p.Position.String() + ": " + p.Text }

// Refusal returns what an API server refuses because of the problem, as a sentence. A server does not
// look at the metadata of a CronJob's template, and refuses each Job later.
func (p Problem) Refusal() string {
	if strings.HasPrefix(p.Text, "spec.jobTemplate.metadata.") {
		return "an API server takes the CronJob and refuses its Jobs: " + p.Error()
	}
	return "an API server refuses the manifest: " + p.Error()
}

// Problems is an error that joins several problems of one object.
type Problems []Problem

// Error returns the problems, one a line.
func (all Problems) Error() string {
	lines := make([]string, len(all))
	for i := range all {
		lines[i] = all[i].Error()
	}
	return strings.Join(lines, "\n")
}
