// Command putback puts known bugs back into the library, one at a time, and says how
// many generated cases the differential tests need until one of them shows the bug.
// A bug that is not found means that the generator or the comparison has a gap.
//
// The files of the library stay as they are: each bug is a build overlay.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/batchplan/batchplan/internal/conformance/rounds/overlay"
)

func main() {
	seed := flag.Uint64("seed", 1, "what the generated cases follow from")
	match := flag.String("match", "", "only bugs whose name matches this regular expression")
	flag.Parse()
	if err := run(*seed, *match); err != nil {
		fmt.Fprintln(os.Stderr, "putback:", err)
		os.Exit(1)
	}
}

func run(seed uint64, match string) error {
	wanted, err := regexp.Compile(match)
	if err != nil {
		return fmt.Errorf("-match: %w", err)
	}
	module, err := os.Getwd()
	if err != nil {
		return err
	}
	tried, missed := 0, 0
	for _, b := range bugs {
		if !wanted.MatchString(b.Name) {
			continue
		}
		tried++
		found := false
		for _, in := range [...]kind{lives, rounds} {
			number, err := b.find(module, in, seed)
			if err != nil {
				return fmt.Errorf("%s: %w", b.Name, err)
			}
			found = found || number >= 0
			fmt.Printf("%-10s %s\n", b.Name, answer(in, number))
		}
		if !found {
			missed++
		}
	}
	fmt.Printf("seed %d: %d bugs, %d not found\n", seed, tried, missed)
	if tried == 0 || missed > 0 {
		return errors.New("see above")
	}
	return nil
}

func answer(in kind, number int) string {
	if number < 0 {
		return fmt.Sprintf("in none of %d %s", most[in], in)
	}
	return fmt.Sprintf("in number %d of the %s", number, in)
}

// find returns the number of the first case of that kind that shows the bug, or -1.
func (b *bug) find(module string, in kind, seed uint64) (int, error) {
	work, err := os.MkdirTemp("", "putback-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(work)
	replace, err := b.overlay(filepath.Join(module, "..", ".."), work)
	if err != nil {
		return 0, err
	}
	binary := filepath.Join(work, "tests")
	if err := build(module, binary, in, replace); err != nil {
		return 0, err
	}
	// The scripts that show a difference are written below the working directory.
	cmd := exec.Command(binary, append([]string{"-test.timeout=0", fmt.Sprint("-seed=", seed)}, arguments[in]...)...)
	cmd.Dir = work
	out, _ := cmd.CombinedOutput() // it fails where a case differs
	return firstOf(string(out))
}

// build compiles the tests with the bug.
func build(module, binary string, in kind, replace map[string]string) error {
	if in == rounds {
		return overlay.Build("./rounds", binary, replace)
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	file := binary + ".json"
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return err
	}
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-overlay="+file, "-o="+binary, ".")
	cmd.Dir, cmd.Stderr = module, os.Stderr
	return cmd.Run()
}

// overlay writes the files with the bug, and returns what they replace.
func (b *bug) overlay(root, work string) (map[string]string, error) {
	replace := map[string]string{}
	for _, e := range b.Edits {
		file := filepath.Join(root, filepath.FromSlash(e.File))
		text, err := e.apply(file)
		if err != nil {
			return nil, err
		}
		with := filepath.Join(work, strings.ReplaceAll(e.File, "/", "_"))
		if err := os.WriteFile(with, []byte(text), 0o644); err != nil {
			return nil, err
		}
		replace[file] = with
	}
	return replace, nil
}

// apply returns the text of the file with the bug.
func (e *edit) apply(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), e.Old); n != 1 {
		return "", fmt.Errorf("%s has the text %d times that the bug replaces:\n%s", e.File, n, e.Old)
	}
	return strings.Replace(string(text), e.Old, e.New, 1), nil
}

// shown is how a run announces a case that differs.
var shown = regexp.MustCompile(`(?:script|round) (\d+) of seed \d+ (?:shows|differs)`)

// last is the last line of a run.
var last = regexp.MustCompile(`\d+ (?:scripts, \d+ steps|rounds), \d+ differences`)

func firstOf(out string) (int, error) {
	if found := shown.FindStringSubmatch(out); found != nil {
		var n int
		_, err := fmt.Sscan(found[1], &n)
		return n, err
	}
	if !last.MatchString(out) {
		return 0, fmt.Errorf("the run ended without a result:\n%s", out)
	}
	return -1, nil
}
