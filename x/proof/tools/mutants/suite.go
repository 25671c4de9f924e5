package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/batchplan/batchplan/x/proof/tools/variants"
)

// memory is the address space that a mutant may use, in KiB: some append forever.
const memory = 4 << 20

// A suite holds the compiled tests of one package, with the mutants.
type suite struct {
	path   string // of the package
	dir    string // where the tests run
	binary string
	rapid  bool // whether it knows the flags of rapid
	tests  []*test
	failed []string // tests that fail without a mutant
}

// A test is one test, one example, or one fuzz target with its seeds.
type test struct {
	suite   *suite
	name    string
	took    time.Duration // of a processor
	drawn   bool          // whether rapid draws cases for it
	reaches map[int]bool  // the functions, by the id of their first mutant; nil if the test was not traced
}

// took returns the sum of the processor times of the tests.
func (s *suite) took() (sum time.Duration) {
	for _, t := range s.tests {
		sum += t.took
	}
	return sum
}

// build compiles the tests of a package, with changed files. It returns nil if the package has
// none.
func build(root, folder string, p *pkg, texts map[string]string) (*suite, error) {
	changes, err := variants.Overlay(folder, texts)
	if err != nil {
		return nil, err
	}

	s := &suite{path: p.path, dir: p.dir, binary: filepath.Join(folder, p.name+".test")}
	c := exec.Command("go", "test", "-c", "-vet=off", "-overlay", changes, "-o", s.binary, p.path)
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go test -c %s: %w\n%s", p.path, err, out)
	}
	if _, err := os.Stat(s.binary); err != nil {
		return nil, nil // no test files
	}

	s.rapid = s.command(context.Background(), 0, "-test.list=^$", "-rapid.nofailfile").Run() == nil
	out, err := s.command(context.Background(), 0, "-test.list=^(Test|Fuzz|Example)").Output()
	if err != nil {
		return nil, fmt.Errorf("%s: list the tests: %w", p.path, err)
	}

	for name := range strings.FieldsSeq(string(out)) {
		s.tests = append(s.tests, &test{suite: s, name: name})
	}
	return s, nil
}

// command returns a command that runs the binary. It limits memory and processor time, if the shell
// can; 0 means no limit.
func (s *suite) command(ctx context.Context, limit time.Duration, args ...string) *exec.Cmd {
	script := fmt.Sprintf("ulimit -v %d 2>/dev/null; ", memory)
	if limit > 0 {
		script += fmt.Sprintf("ulimit -t %d 2>/dev/null; ", int(limit.Seconds())+1)
	}
	c := exec.CommandContext(ctx, "sh", append([]string{"-c", script + `exec "$0" "$@"`, s.binary}, args...)...)
	c.Dir = s.dir
	return c
}

// conditions holds the conditions of a test run.
type conditions struct {
	mutant int
	trace  string        // where to write which functions are reached, if mutant is -1
	checks int           // random cases of each property; 0 means the default
	seed   uint64        // of the random cases
	limit  time.Duration // of processor time; 0 means none
}

// A result is the outcome of a run.
type result struct {
	verdict verdict
	killer  string
	took    time.Duration // of a processor
	drawn   bool          // whether rapid has drawn cases
}

// run runs some tests of the suite. An endless loop reaches the limit of processor time, which does
// not depend on the load of the machine. An endless wait reaches the limit of real time, which is
// much longer.
func (s *suite) run(names []string, c conditions) result {
	args := []string{"-test.failfast", "-test.run=^(" + strings.Join(names, "|") + ")$"}
	ctx, cancel := context.Background(), func() {}
	if c.limit > 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Minute+10*c.limit)
	}
	defer cancel()

	if c.mutant < 0 {
		args = append(args, "-test.v")
	}
	if s.rapid {
		args = append(args, "-rapid.nofailfile", "-rapid.shrinktime=1ms", "-rapid.seed="+strconv.FormatUint(c.seed, 10))
		if c.checks > 0 {
			args = append(args, "-rapid.checks="+strconv.Itoa(c.checks))
		}
	}

	cmd := s.command(ctx, c.limit, args...)
	cmd.Env = append(os.Environ(), "MUTANT="+strconv.Itoa(c.mutant), "MUTANT_TRACE="+c.trace, "GOGC=400")
	out := &tail{}
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	if cmd.ProcessState == nil { // it did not start
		return result{verdict: alive}
	}

	took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	drawn := bytes.Contains(out.kept, []byte("[rapid] OK"))
	switch {
	case err == nil:
		return result{alive, "", took, drawn}
	case ctx.Err() != nil || c.limit > 0 && took >= c.limit:
		return result{timedOut, "time limit", took, drawn}
	}
	return result{killed, out.failed(err), took, drawn}
}

// A tail keeps the start of an output, which names the test that failed.
type tail struct{ kept []byte }

var _ io.Writer = (*tail)(nil)

func (t *tail) Write(p []byte) (int, error) {
	if room := 64<<10 - len(t.kept); room > 0 {
		t.kept = append(t.kept, p[:min(len(p), room)]...)
	}
	return len(p), nil
}

func (t *tail) failed(err error) string {
	for line := range strings.Lines(string(t.kept)) {
		if rest, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			name, _, _ := strings.Cut(rest, " ")
			return name
		}
	}
	return err.Error()
}

// trace runs each test alone on the original, to find out what it reaches and how long it takes. A
// test that fails in this build is left out, with a warning.
func (s *suite) trace(folder string, c conditions) error {
	var kept []*test
	for _, t := range s.tests {
		c.mutant, c.trace = -1, filepath.Join(folder, "trace")
		r := s.run([]string{t.name}, c)
		t.drawn = r.drawn
		if t.took = r.took; r.verdict != alive {
			fmt.Fprintf(os.Stderr, "left out: %s of %s fails without a mutant: %s\n", t.name, s.path, r.killer)
			s.failed = append(s.failed, t.name)
		} else {
			kept = append(kept, t)
		}

		text, err := os.ReadFile(c.trace)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		_ = os.Remove(c.trace)

		t.reaches = map[int]bool{}
		for field := range strings.FieldsSeq(string(text)) {
			id, err := strconv.Atoi(field)
			if err != nil {
				return err
			}
			t.reaches[id] = true
		}
	}

	s.tests = kept
	return nil
}
