package golden

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expected outputs of the stories")

// Story runs the commands of one file, in order, and returns the output of each. It
// ends the test with [Command.Fatalf] at an unknown command. Newlines at the end of
// an output are dropped.
type Story func(t *testing.T, c *Command) string

// Run runs every file dir/.../*.txt as a subtest that is named after its path, each
// with a fresh Story from newStory. It fails if there are none, so that a
// missing corpus does not look like one that passes.
func Run(t *testing.T, dir string, newStory func() Story) {
	t.Helper()
	files, err := find(dir)
	if err != nil {
		t.Fatal(err)
	}

	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), filepath.ToSlash(dir)+"/"), ".txt")
		t.Run(name, func(t *testing.T) {
			play := newStory()
			run := func(c *Command) string { return play(t, c) }
			if err := runFile(t, file, *update, run); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// find returns the stories below dir in the order of their paths. It is an error if there are none.
func find(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".txt" {
			files = append(files, path)
		}
		return err
	})

	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no story in %s", dir)
	}
	return files, err
}

// runFile runs one story and reports each output that differs from the expected
// one. With -update it writes the outputs into the file instead.
func runFile(t reporter, file string, update bool, run func(*Command) string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	s, err := parse(filepath.ToSlash(file), string(text))
	if err != nil {
		return err
	}
	if len(s.blocks) == 0 {
		return fmt.Errorf("%s: no command", file)
	}

	outputs, err := s.run(t, run)
	if err != nil {
		return err
	}

	if update {
		if t.Failed() {
			return nil // the output of a failing story is not kept
		}
		rewritten, err := s.format(outputs)
		if err != nil || rewritten == string(text) {
			return err
		}
		return os.WriteFile(file, []byte(rewritten), 0o644)
	}

	for i, b := range s.blocks {
		if outputs[i] != b.want {
			t.Errorf("%s: %s printed\n%s\nwant\n%s", b.cmd.Pos, b.cmd.Name, indent(outputs[i]), indent(b.want))
		}
	}
	return nil
}

// run runs the commands and returns their outputs. The error names the arguments
// that no command requested.
func (s *story) run(t reporter, run func(*Command) string) ([]string, error) {
	outputs := make([]string, len(s.blocks))
	var errs []error
	for i, b := range s.blocks {
		b.cmd.t = t
		outputs[i] = strings.TrimRight(run(b.cmd), "\n")
		if unknown := b.cmd.unknown(); unknown != "" {
			errs = append(errs, fmt.Errorf("%s: %s: unknown argument: %s", b.cmd.Pos, b.cmd.Name, unknown))
		}
	}
	return outputs, errors.Join(errs...)
}

func indent(s string) string { return "\t" + strings.ReplaceAll(s, "\n", "\n\t") }
