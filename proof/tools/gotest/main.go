// Gotest runs go test with the given arguments and prints what go test prints. At the end it
// has a line for each test that was skipped, with the reason: a skipped test proves nothing.
//
//	go run ./gotest [-C DIR] [-skipped FILE] ARGUMENT...
//
// With -skipped it appends these lines to a file instead, for a last step to print. Its exit status is
// go test's.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	status, err := run(os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(2)
	}
	os.Exit(status)
}

func run(args []string, out, errs io.Writer) (status int, err error) {
	dir, file := "", ""
	for len(args) > 1 && (args[0] == "-C" || args[0] == "-skipped") {
		if args[0] == "-C" {
			dir = args[1]
		} else {
			file = args[1]
		}
		args = args[2:]
	}
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, errs
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	r := reader{out: out, printed: map[string][]string{}}
	r.read(pipe)
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		status, err = max(exit.ExitCode(), 1), nil
	}
	return status, errors.Join(err, r.summary(file))
}

// event is a line of go test -json.
type event struct{ Action, Package, Test, Output string }

// reader prints the output of packages and of tests that fail.
type reader struct {
	out     io.Writer
	printed map[string][]string // by the package and the test, until it has ended
	skipped []string
}

func (r *reader) read(in io.Reader) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.line(line)
		}
		if err != nil {
			return
		}
	}
}

func (r *reader) line(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil || e.Action == "" {
		fmt.Fprintf(r.out, "%s", line) // what go test says beside its events
		return
	}
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "output":
		if e.Test == "" {
			if e.Output != "PASS\n" {
				fmt.Fprint(r.out, e.Output)
			}
		} else if !strings.HasPrefix(e.Output, "=== ") {
			r.printed[key] = append(r.printed[key], e.Output)
		}
	case "fail":
		if e.Test == "" {
			r.rest(e.Package)
		}
		fmt.Fprint(r.out, strings.Join(r.printed[key], ""))
		delete(r.printed, key)
	case "skip":
		if e.Test != "" {
			r.skipped = append(r.skipped, fmt.Sprintf("skipped: %s: %s", key, reason(r.printed[key])))
		}
		delete(r.printed, key)
	case "pass":
		delete(r.printed, key)
	}
}

// rest prints what tests have printed that were under way when their package failed, as in a
// panic.
func (r *reader) rest(pkg string) {
	for key, lines := range r.printed {
		if strings.HasPrefix(key, pkg+" ") {
			fmt.Fprint(r.out, strings.Join(lines, ""))
			delete(r.printed, key)
		}
	}
}

var place = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

// reason returns the last thing that a skipped test has said.
func reason(lines []string) string {
	for i := len(lines) - 1; i >= 0; i-- {
		if place.MatchString(lines[i]) {
			text := place.ReplaceAllString(strings.Join(lines[i:], ""), "")
			first, _, _ := strings.Cut(text, "\n")
			return first
		}
	}
	return "without a reason"
}

// summary writes the skipped tests, or appends them to a file.
func (r *reader) summary(file string) error {
	text := ""
	for _, line := range r.skipped {
		text += line + "\n"
	}
	if file == "" {
		_, err := fmt.Fprint(r.out, text)
		return err
	}
	f, err := os.OpenFile(filepath.Clean(file), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
