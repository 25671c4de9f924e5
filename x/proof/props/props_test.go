package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/share"
	"github.com/batchplan/batchplan/job"
)

// tree replaces the go command in a tree of two packages. A property draws as many cases as the
// flag asks for.
func tree(args ...string) ([]byte, error) {
	packages := map[string][]string{"m/a": {"TestA1", "TestA2", "TestA3"}, "m/b": {"TestB1", "TestB2"}}
	switch args = slices.Clone(args); {
	case args[0] == "list":
		return []byte("m/a\nm/a.test\nm/b.test\n"), nil
	case args[1] == "-list":
		return []byte(strings.Join(packages[args[3]], "\n") + "\nok  \t" + args[3] + "\t0.1s\n"), nil
	}
	var out bytes.Buffer
	names, checks := strings.Trim(strings.TrimPrefix(args[4], "-run=^("), ")$"), strings.TrimPrefix(args[6], "-rapid.checks=")
	for name := range strings.SplitSeq(names, "|") {
		event := func(action, test, output string) {
			fmt.Fprintf(&out, "{\"Action\":%q,\"Package\":%q,\"Test\":%q,\"Output\":%q}\n", action, args[5], test, output)
		}
		switch name {
		case "TestA2":
			event("output", name, "    a_test.go:1: there is no such zone\n")
			event("skip", name, "")
		case "TestB1":
			event("output", name, "    b_test.go:1: [rapid] failed after 1 tests: no\n")
			event("fail", name, "")
		default:
			event("output", name+"/one", "    a_test.go:1: [rapid] OK, passed "+checks+" tests (1s)\n")
			event("pass", name+"/one", "")
			event("output", name+"/two", "    a_test.go:1: [rapid] OK, passed "+checks+" tests (1s)\n")
			event("pass", name+"/two", "")
			event("pass", name, "")
		}
	}
	return out.Bytes(), nil
}

// The merged lines of three shares are the lines of one process, byte for byte.
func TestShares(t *testing.T) {
	real := command
	defer func() { command = real }()
	command = tree
	dir := t.TempDir()

	play := func(index int, file string, args ...string) (lines string, err error) {
		t.Setenv(job.IndexVariable, fmt.Sprint(index))
		err = run(append(args, "-checks=7", "-out="+filepath.Join(dir, file)))
		if slices.Contains(args, "-shares=3") {
			file = fmt.Sprintf("part-%d.txt", index)
		}
		data, _ := os.ReadFile(filepath.Join(dir, file))
		return string(data), err
	}

	whole, err := play(0, "whole.txt")
	if want := "passed\tm/a\tTestA1\t14\nskipped\tm/a\tTestA2\t0\npassed\tm/a\tTestA3\t14\n" +
		"failed\tm/b\tTestB1\t0\npassed\tm/b\tTestB2\t14\n"; whole != want || err == nil || err.Error() != "1 tests failed" {
		t.Errorf("%v\n%s\nwant\n%s", err, whole, want)
	}

	var files []string
	for i := range 3 {
		if _, err := play(i, "part.txt", "-shares=3"); (err != nil) != (i == 0) {
			t.Errorf("share %d: %v", i, err)
		}
		files = append(files, filepath.Join(dir, fmt.Sprintf("part-%d.txt", i)))
	}

	var merged bytes.Buffer
	if err := share.Lines(&merged, files); err != nil || merged.String() != whole {
		t.Errorf("%v\n%s\nwant\n%s", err, &merged, whole)
	}

	if only, err := play(0, "a.txt", "-match=a$"); strings.Contains(only, "m/b") || err != nil {
		t.Errorf("%v\n%s", err, only)
	}

	if err := run([]string{"-seed=0"}); err == nil {
		t.Error("a seed that differs from process to process")
	}
}
