package report

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/logs"
)

// Failure is why a job has failed: how its last failed pod ended, and what to do next. A nil
// Failure has no text.
type Failure struct {
	Pod       string `json:"pod"`
	Container string `json:"container,omitempty"`
	// ExitCode is the exit status of the container, if there is one.
	ExitCode int32  `json:"exitCode"`
	Reason   string `json:"reason,omitempty"`
	// Log holds the last lines that the container has written.
	Log []string `json:"log,omitempty"`
	// Next holds commands for the user to type, each with a description.
	Next [][2]string `json:"-"`
}

// text describes the failure in several lines.
func (f *Failure) text() string {
	if f == nil {
		return ""
	}

	var b strings.Builder
	fmt.Fprintf(&b, "  pod %s", f.Pod)
	if f.Container != "" {
		fmt.Fprintf(&b, ", container %s, ended with exit status %d", f.Container, f.ExitCode)
	}
	if f.Reason != "" {
		fmt.Fprintf(&b, " (%s)", f.Reason)
	}
	if len(f.Log) > 0 {
		fmt.Fprint(&b, "; its last lines:")
	}

	b.WriteString("\n")
	for _, line := range f.Log {
		fmt.Fprintf(&b, "    | %s\n", line)
	}

	width := 0
	for _, n := range f.Next {
		width = max(width, runewidth.StringWidth(n[0]))
	}
	for i, n := range f.Next {
		word := "next:"
		if i > 0 {
			word = ""
		}
		fmt.Fprintf(&b, "  %-5s %s  # %s\n", word, runewidth.FillRight(n[0], width), n[1])
	}
	return b.String()
}

// prefixes writes names before the lines of logs. They all get the width of the longest name so
// far.
type prefixes struct {
	width int
	most  int // columns of a name, longer names are shortened; 0 means no limit
}

// maxPrefix is the maximum number of columns that are reserved for a name. After a longer name, the
// line begins further to the right.
const maxPrefix = 40

func (p *prefixes) of(l *logs.Line) string {
	name := l.Name()
	if name == "" {
		return ""
	}
	if p.most > 0 {
		name = Shorten(name, p.most)
	}
	p.width = max(p.width, min(runewidth.StringWidth(name), maxPrefix))
	return runewidth.FillRight(name, p.width) + " | "
}
