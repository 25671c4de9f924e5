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

// Difference compares two answers. It returns the lines that only one of them has, marked as -want
// or +got, and "" for equal answers.
func Difference(want, got []string) string {
	var b strings.Builder
	for len(want) > 0 || len(got) > 0 {
		if len(want) > 0 && len(got) > 0 && want[0] == got[0] {
			want, got = want[1:], got[1:]
			continue
		}
		n, m := resync(want, got)
		write(&b, "-", want[:n])
		write(&b, "+", got[:m])
		want, got = want[n:], got[m:]
	}
	return b.String()
}

// resync returns how many lines of each to skip until both continue alike: as few as possible.
func resync(want, got []string) (int, int) {
	for sum := 1; sum < len(want)+len(got); sum++ {
		for n := min(sum, len(want)); n >= 0; n-- {
			if m := sum - n; n < len(want) && m < len(got) && want[n] == got[m] {
				return n, m
			}
		}
	}
	return len(want), len(got)
}

func write(b *strings.Builder, sign string, lines []string) {
	for _, line := range lines {
		fmt.Fprintf(b, "%s %s\n", sign, line)
	}
}
