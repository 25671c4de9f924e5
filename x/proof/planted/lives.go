package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
)

// controllers are the packages with bugs, whose property tests draw random lives.
var controllers = []string{"job", "cronjob"}

func buildLives(dir, overlay string) (commands [][]string) {
	for _, c := range controllers {
		commands = append(commands, compileTests(dir, c, overlay, "./"+c))
	}
	return commands
}

var (
	failed = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)
	after  = regexp.MustCompile(`failed after (\d+) tests`)
)

// live runs the random lives of the controller. The cell names the property that fails, and the
// number of lives until then.
func live(b *bug, dir string, o options) verdict {
	out, err := runLives(b, testBinary(dir, b.controller()), o, "-test.run=Lives|TestL9|TestCL4|TestJI26",
		"-test.failfast")
	name := failed.FindSubmatch(out)
	switch {
	case err == nil:
		return verdict{false, []string{"–"}}
	case errors.Is(err, context.DeadlineExceeded):
		return verdict{false, []string{notAll(o)}}
	case name == nil:
		return verdict{true, []string{"ended early"}}
	}
	text := string(name[1])
	if n := after.FindSubmatch(out); n != nil {
		text += ", " + string(n[1])
	}
	return verdict{true, []string{text}}
}

// runLives runs tests with the bug, and as many lives as the options ask for.
func runLives(b *bug, tests string, o options, flags ...string) ([]byte, error) {
	flags = append(flags, "-rapid.nofailfile", "-rapid.shrinktime=1ms", fmt.Sprintf("-rapid.checks=%d", o.lives),
		fmt.Sprintf("-rapid.seed=%d", o.seed))
	return command(o.limit, b.number, tests, flags...)
}
