//go:build linux || darwin

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
)

// TestMain runs the command instead of the tests if the test program is called by the command's
// name. So the sweep below needs no other build.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "batchsim" {
		main()
		return
	}
	os.Exit(m.Run())
}

// output runs a program in a folder and returns what it prints.
func output(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// buildRunner builds the runner of x/cmd/batchrun. If this test has the race detector, the runner
// has it as well, so that most packages are already compiled.
func buildRunner(t *testing.T, dir string) string {
	runner := filepath.Join(dir, "batchrun")
	args := []string{"build", "-C", filepath.Join("..", "batchrun"), "-o", runner}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-race" && s.Value == "true" {
				args = append(args, "-race")
			}
		}
	}
	output(t, "", "go", append(args, ".")...)
	return runner
}

// killing writes a program that runs another one. When it runs for index 2 the first time, it kills
// itself instead.
func killing(t *testing.T, dir, program string) string {
	t.Helper()
	script, killed := filepath.Join(dir, "killing.sh"), filepath.Join(dir, "killed")
	text := "#!/bin/sh\nif [ \"$JOB_COMPLETION_INDEX\" = 2 ] && mkdir " + killed + " 2>/dev/null; then kill -9 $$; fi\nexec " + program + " \"$@\"\n"
	must.OK(t, os.WriteFile(script, []byte(text), 0o700))
	return script
}

// runKilled runs a Job of four indexes. One of them is killed and retried.
func runKilled(t *testing.T, dir, manifest string) {
	t.Helper()
	if out := output(t, dir, buildRunner(t, dir), "run", manifest, "--state", "state", "--backoff", "10ms"); !strings.Contains(out, "succeeded 4/4, failed 1") {
		t.Errorf("no index was killed: %s", out)
	}
}

// TestSweepAsIndexedJob prints the manifest of a sweep, and runs it with the runner of
// x/cmd/batchrun. Each index makes its part, and one of them is killed and retried. The parts
// together are the same as the file of a sweep in one process.
func TestSweepAsIndexedJob(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another program")
	}
	dir := t.TempDir()
	self, err := os.Executable()
	must.OK(t, err)
	simulate := filepath.Join(dir, "batchsim")
	must.OK(t, os.Symlink(self, simulate))
	render, err := filepath.Abs(filepath.Join("testdata", "render.yaml"))
	must.OK(t, err)
	sweep := func(command, db string, more ...string) string {
		args := []string{command, render, "--grid", "jobs.parallelism=2|6", "--grid", "jobs.backoffLimitPerIndex=0|3", "--seeds", "2", "--db", db}
		return output(t, dir, simulate, append(args, more...)...)
	}
	whole := sweep("sweep", "whole.sqlite")
	script := killing(t, dir, simulate)
	manifest := sweep("manifest", "part.sqlite", "--shares", "4", "--command", script)
	testfile.Write(t, manifest, dir, "sweep.yaml")
	runKilled(t, dir, "sweep.yaml")
	output(t, dir, simulate, "merge", "merged.sqlite", "part-0.sqlite", "part-1.sqlite", "part-2.sqlite",
		"part-3.sqlite")
	one := testfile.Read(t, dir, "whole.sqlite")
	if joined := testfile.Read(t, dir, "merged.sqlite"); joined != one {
		t.Errorf("the merged file differs from the file of one process: %d and %d bytes", len(joined), len(one))
	}
	if merged := sweep("sweep", "merged.sqlite"); merged != whole || strings.Count(whole, "jobs.parallelism=") != 4 {
		t.Errorf("merged:\n%s\nin one process:\n%s", merged, whole)
	}
}

// TestSearchAsIndexedJob does what TestSweepAsIndexedJob does, with the manifest of the search,
// search.yaml. The search is less deep here.
func TestSearchAsIndexedJob(t *testing.T) {
	if testing.Short() {
		t.Skip("builds other programs")
	}
	dir := t.TempDir()
	search := filepath.Join(dir, "explore")
	output(t, filepath.Join("..", "..", "proof"), "go", "build", "-o", search, "./explore/run")
	// The search writes to the folder of the test.
	manifest, _, _ := strings.Cut(testfile.Read(t, "../../proof/explore/run/search.yaml"), "        volumeMounts:")
	for _, change := range [][2]string{
		{"workingDir: /data", "workingDir: " + dir},
		{"[explore, -brief, -size=large,", "[" + killing(t, dir, search) + ", -brief, -depth=3,"},
	} {
		if manifest = strings.Replace(manifest, change[0], change[1], 1); !strings.Contains(manifest, change[1]) {
			t.Fatalf("no %s in\n%s", change[0], manifest)
		}
	}
	testfile.Write(t, manifest, dir, "search.yaml")
	runKilled(t, dir, "search.yaml")
	merged := output(t, dir, search, "-merge", "search-0.txt", "search-1.txt", "search-2.txt", "search-3.txt")
	if whole := output(t, dir, search, "-brief", "-depth=3"); merged != whole || strings.Count(whole, "\n") < 20 {
		t.Errorf("merged:\n%s\nin one process:\n%s", merged, whole)
	}
}
