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
)

// TestMain makes this test program the command, under that name: so the sweep below needs no
// second build of it.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "simulate" {
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

// buildRunner builds the runner of examples/local, with the race detector if this test has it: then
// its own tests have compiled nearly all of it.
func buildRunner(t *testing.T, dir string) string {
	runner := filepath.Join(dir, "local")
	args := []string{"build", "-C", filepath.Join("..", "local"), "-o", runner}
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

// TestSweepAsIndexedJob runs the printed manifest of a sweep with the runner of examples/local: each index
// makes its part, and the parts together are the file of a sweep in one process.
func TestSweepAsIndexedJob(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another program")
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	simulate := filepath.Join(dir, "simulate")
	if err := os.Symlink(self, simulate); err != nil {
		t.Fatal(err)
	}
	render, err := filepath.Abs(filepath.Join("testdata", "render.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	sweep := func(command, db string, more ...string) string {
		args := []string{command, render, "--grid", "jobs.parallelism=2|6", "--grid", "jobs.backoffLimitPerIndex=0|3", "--seeds", "2", "--db", db}
		return output(t, dir, simulate, append(args, more...)...)
	}
	whole := sweep("sweep", "whole.sqlite")
	manifest := sweep("manifest", "part.sqlite", "--shares", "3", "--command", simulate)
	if err := os.WriteFile(filepath.Join(dir, "sweep.yaml"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	output(t, dir, buildRunner(t, dir), "run", "sweep.yaml", "--state", "state")
	output(t, dir, simulate, "merge", "merged.sqlite", "part-0.sqlite", "part-1.sqlite", "part-2.sqlite")
	if merged := sweep("sweep", "merged.sqlite"); merged != whole || strings.Count(whole, "jobs.parallelism=") != 4 {
		t.Errorf("merged:\n%s\nin one process:\n%s", merged, whole)
	}
}
