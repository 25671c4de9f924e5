package probe

import (
	"fmt"
	"strings"
)

// header starts the answer to a probe in a file of answers.
const header = "# "

// Format writes answers as the text of a file.
func Format(results []Result) string {
	var b strings.Builder
	for i, r := range results {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s%s\n", header, r.Name)
		for _, line := range r.Lines {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// Parse reads what Format wrote.
func Parse(text string) []Result {
	var results []Result
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, header); ok {
			results = append(results, Result{Name: name})
		} else if n := len(results); n > 0 && line != "" {
			results[n-1].Lines = append(results[n-1].Lines, line)
		}
	}
	return results
}
