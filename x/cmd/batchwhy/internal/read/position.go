package read

import "fmt"

// Position is a place in an input.
type Position struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
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
