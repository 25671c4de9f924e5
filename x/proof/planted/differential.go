package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
)

func buildScripts(dir, overlay string) [][]string {
	return [][]string{append([]string{"-C", "x/proof/conformance"}, compileTests(dir, "scripts", overlay, ".")...)}
}

func buildRounds(dir, overlay string) [][]string {
	return [][]string{
		{"-C", "x/proof/conformance", "run", "./build", "-overlay", overlay, "./rounds", testBinary(dir, "rounds")},
	}
}

// playScripts plays scripts to the controllers of Kubernetes and to ours until one differs.
func playScripts(b *bug, dir string, o options) verdict {
	return playDifferential(b, dir, o, "scripts", "-test.run=^TestLongRun$", "-until", "-shrink=0",
		fmt.Sprint("-scripts=", o.scripts))
}

// playRounds plans single rounds with the controllers of Kubernetes and with ours until one
// differs.
func playRounds(b *bug, dir string, o options) verdict {
	return playDifferential(b, dir, o, "rounds", "-test.run=^TestRounds$", "-share=0", fmt.Sprint("-rounds=", o.rounds))
}

func playDifferential(b *bug, dir string, o options, name string, flags ...string) verdict {
	flags = append(flags, "-test.timeout=0", fmt.Sprint("-seed=", o.seed))
	// The scripts that show a difference are written below the working directory.
	out, err := commandIn(dir, o.limit, b.number, testBinary(dir, name), flags...)
	if errors.Is(err, context.DeadlineExceeded) {
		return verdict{false, []string{notAll(o)}}
	}
	n, err := firstOf(string(out))
	switch {
	case err != nil:
		return verdict{true, []string{"ended early"}}
	case n < 0:
		return verdict{false, []string{"–"}}
	}
	return verdict{true, []string{fmt.Sprint(n)}}
}

var (
	// shown matches the line in which a run announces a case that differs.
	shown = regexp.MustCompile(`(?:script|round) (\d+) of seed \d+ (?:shows|differs)`)
	// last matches the last line of a run.
	last = regexp.MustCompile(`\d+ (?:scripts, \d+ steps|rounds), \d+ differences`)
)

// firstOf returns the number of the case that differs, or -1.
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
