package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// buildAnswers returns the commands that build jobcheck without bugs, and the tests of jobcheck
// with all bugs. The binary of the tests serves as the planner to which jobcheck sends snapshots.
func buildAnswers(dir, overlay string) [][]string {
	return [][]string{
		{"-C", "x/cmd", "build", "-o", filepath.Join(dir, "jobcheck"), "./jobcheck"},
		append([]string{"-C", "x/cmd"}, compileTests(dir, "planner", overlay, "./jobcheck")...),
	}
}

// answers lets jobcheck judge the answers of a planner that has the bug: first whether they keep
// the invariants, then whether they are exactly right.
func answers(b *bug, dir string, o options) verdict {
	v := verdict{cells: make([]string, 2)}
	for i, exact := range []bool{false, true} {
		found, cell := ask(b, dir, exact, o)
		v.found, v.cells[i] = v.found || found, cell
	}
	if v.found && v.cells[1] == v.cells[0] {
		v.cells[1] = "the same"
	}
	return v
}

// shownRules is the number of broken rules that a cell names before "and n more".
const shownRules = 6

// ask asks one planner. It returns the text for the bug's table cell: the rules that the answers
// break, or why no answer can be read.
func ask(b *bug, dir string, exact bool, o options) (found bool, cell string) {
	out, err := command(o.limit, b.number, filepath.Join(dir, "jobcheck"), "-timeout=5s",
		fmt.Sprint("-exact=", exact), fmt.Sprint("-seed=", o.seed), fmt.Sprint("-questions=", o.questions), "--",
		"env", "JOBCHECK_PLANNER=right", testBinary(dir, "planner"))
	var exit *exec.ExitError
	switch isExit := errors.As(err, &exit); {
	case err == nil:
		return false, "–"
	case errors.Is(err, context.DeadlineExceeded):
		return false, notAll(o)
	case isExit && exit.ExitCode() == 2:
		_, reason, _ := strings.Cut(string(out), "jobcheck: ")
		reason, _, _ = strings.Cut(reason, "\n")
		return true, reason
	case !isExit || exit.ExitCode() != 1:
		return false, "– (" + err.Error() + ")"
	}
	rules := brokenRules(out)
	if more := len(rules) - shownRules; more > 1 {
		rules = append(rules[:shownRules], fmt.Sprintf("and %d more", more))
	}
	return true, strings.Join(rules, ", ")
}

// brokenRules returns the rules that a report of jobcheck names.
func brokenRules(report []byte) (rules []string) {
	for line := range strings.Lines(string(report)) {
		var finding struct{ Rule string }
		if json.Unmarshal([]byte(line), &finding) == nil && finding.Rule != "" &&
			!slices.Contains(rules, finding.Rule) {
			rules = append(rules, finding.Rule)
		}
	}
	return rules
}
