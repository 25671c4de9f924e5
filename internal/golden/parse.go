package golden

import (
	"fmt"
	"strings"

	"github.com/batchplan/batchplan/internal/line"
)

const fence = "----"

// story is a parsed file: its blocks, and the text after the last one.
type story struct {
	blocks []block
	tail   string
}

// block is one command with all text before it.
type block struct {
	head string // as in the file, up to and including the fence line
	cmd  *Command
	want string // without the last newline
}

// parse reads a story. Positions and errors begin with name.
func parse(name, text string) (*story, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}

	lines := strings.SplitAfter(text, "\n") // the last one is empty, hence blank
	s := &story{}
	for at := 0; ; {
		start := at
		for at < len(lines) && isProse(lines[at]) {
			at++
		}
		if at == len(lines) {
			s.tail = strings.Join(lines[start:], "")
			return s, nil
		}

		pos := fmt.Sprintf("%s:%d", name, at+1)
		cmd, err := parseCommand(chomp(lines[at]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pos, err)
		}
		cmd.Pos = pos

		at++

		input := at
		for at < len(lines) && !isBlank(lines[at]) && chomp(lines[at]) != fence {
			at++
		}
		if at == len(lines) || isBlank(lines[at]) {
			return nil, fmt.Errorf("%s: no line %q before the end of the block", pos, fence)
		}
		switch below := chomp(strings.Join(lines[input:at], "")); {
		case cmd.Input == "":
			cmd.Input = below
		case below != "":
			return nil, fmt.Errorf("%s: the command has an input in its line and another below it", pos)
		}
		at++

		b := block{head: strings.Join(lines[start:at], ""), cmd: cmd}
		if b.want, at, err = parseOutput(lines, at); err != nil {
			return nil, fmt.Errorf("%s: %w", pos, err)
		}
		s.blocks = append(s.blocks, b)
	}
}

// parseOutput reads the output that starts at lines[at]. If that line is a fence, the output ends
// at the next pair of fences, otherwise at a blank line. parseOutput also returns the index of the
// line where it stopped.
func parseOutput(lines []string, at int) (string, int, error) {
	start := at
	if at < len(lines) && chomp(lines[at]) == fence {
		for start++; at < len(lines)-1; at++ {
			if at < start || chomp(lines[at]) != fence || chomp(lines[at+1]) != fence {
				continue
			}
			if !isBlank(lines[at+2]) {
				return "", 0, fmt.Errorf("no blank line after the output, but %q", chomp(lines[at+2]))
			}
			return chomp(strings.Join(lines[start:at], "")), at + 2, nil
		}
		return "", 0, fmt.Errorf("no pair of lines %q at the end of the output", fence)
	}

	for at < len(lines) && !isBlank(lines[at]) {
		at++
	}
	return chomp(strings.Join(lines[start:at], "")), at, nil
}

// format returns the text of the story with the given outputs, one per block.
func (s *story) format(outputs []string) (string, error) {
	var out strings.Builder
	for i, b := range s.blocks {
		text, err := formatOutput(outputs[i])
		if err != nil {
			return "", fmt.Errorf("%s: %w", b.cmd.Pos, err)
		}
		out.WriteString(b.head)
		out.WriteString(text)
	}
	out.WriteString(s.tail)
	return out.String(), nil
}

func formatOutput(output string) (string, error) {
	if output == "" {
		return "", nil
	}

	plain := true
	lines := strings.SplitAfter(output+"\n", "\n")
	lines = lines[:len(lines)-1] // no line follows the last newline
	for i, line := range lines {
		if isBlank(line) || i == 0 && chomp(line) == fence {
			plain = false
		}
		if i > 0 && chomp(line) == fence && chomp(lines[i-1]) == fence {
			return "", fmt.Errorf("the output contains two lines %q in a row", fence)
		}
	}

	switch {
	case plain:
		return output + "\n", nil
	case chomp(lines[len(lines)-1]) == fence:
		return "", fmt.Errorf("the output contains blank lines and ends in %q", fence)
	}
	return fence + "\n" + output + "\n" + fence + "\n" + fence + "\n", nil
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

func isProse(line string) bool { return isBlank(line) || strings.HasPrefix(line, "#") }

func chomp(s string) string { return strings.TrimSuffix(s, "\n") }

// parseCommand parses the line of a command.
func parseCommand(text string) (*Command, error) {
	l, err := line.Parse(text)
	if err != nil {
		return nil, err
	}
	c := &Command{Line: l, used: map[string]bool{}}
	seen := map[string]bool{}
	for _, a := range c.Args {
		if seen[a.Key] {
			return nil, fmt.Errorf("duplicate argument %q", a.Key)
		}
		seen[a.Key] = true
	}
	return c, nil
}
