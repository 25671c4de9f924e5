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

// String returns file:line, where editors look for it.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Problem is something in the input that cannot be used.
type Problem struct {
	Position
	Text string `json:"text"`
}

// Error names the place and the problem.
func (p Problem) Error() string { return p.Position.String() + ": " + p.Text }

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
