package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// command runs a command at the root of the repository, with one bug chosen, or none.
func command(limit time.Duration, number, name string, args ...string) ([]byte, error) {
	return commandIn("", limit, number, name, args...)
}

func commandIn(dir string, limit time.Duration, number, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), environment+"="+number)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return out.Bytes(), err
}

// compileTests returns the arguments with which the go command compiles the tests of a package.
func compileTests(dir, name, overlay, pkg string) []string {
	return []string{"test", "-c", "-vet=off", "-overlay", overlay, "-o", testBinary(dir, name), pkg}
}

// notAll returns the cell for a bug that was not found within the time limit.
func notAll(o options) string { return fmt.Sprintf("– (not all in %s)", o.limit) }

func testBinary(dir, name string) string { return filepath.Join(dir, name+".test") }
