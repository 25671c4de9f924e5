package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// kits are the packages of the test kits, with the folder of the planner of each.
var kits = map[string]string{"job": "./job/jobtest", "cronjob": "./cronjob/cronjobtest"}

// isOfProgram reports whether the bug is in a program around the planner: one of the
// subjects that the tests of a kit have.
func (m *mutant) isOfProgram() bool { return strings.HasSuffix(m.edits[0].file, "_test.go") }

// rightTests are the tests in which a kit's subject is right, but for the bug. A planner has two: a
// program that reads its store, and one behind a watch. A program with a bug of its own has one.
func (m *mutant) rightTests() []string {
	switch {
	case !m.isOfProgram():
		return []string{"^TestBackend_Right$", "^TestBackend_Late$"}
	case m.folder() == "job":
		return []string{"^TestTutorial_Right$/^" + m.subject + "$"}
	}
	return []string{"^TestBackend_Right$"}
}

// printKit prints what the kits find: two tables, of bugs of planners and of programs.
func printKit(all []mutant, dir string, o options) {
	for _, ofProgram := range []bool{false, true} {
		if ofProgram {
			fmt.Print("\n| | Program | Bug | Found |\n|---|---|---|---|\n")
		} else {
			fmt.Print("| | Bug | Reads its store | Behind a watch |\n|---|---|---|---|\n")
		}
		for _, m := range all {
			if m.isOfProgram() != ofProgram || !o.match.MatchString(m.number) {
				continue
			}
			what := m.subject + ": " + m.what
			if ofProgram {
				what = m.subject + map[string]string{"cronjob": ", of CronJobs"}[m.folder()] + " | " + m.what
			}
			var columns []string
			for _, test := range m.rightTests() {
				columns = append(columns, m.liveInKit(dir, test, o))
			}
			fmt.Printf("| %s | %s | %s |\n", m.number, what, strings.Join(columns, " | "))
		}
	}
}

var (
	broken    = regexp.MustCompile(`(?m)^ *(?:\S+: )?(?:day \d+, )?\d\d:\d\d:\d\d  ([A-Z]+\d+|Store): `)
	livesWell = regexp.MustCompile(`(\d+) lives went well before this one`)
)

// liveInKit runs one test of a kit. It returns the rule that was broken first, and in which
// life.
func (m *mutant) liveInKit(dir, test string, o options) string {
	out, err := m.runLives(filepath.Join(dir, m.folder()+"test.test"), o, "-test.run="+test)
	rule, before := broken.FindSubmatch(out), livesWell.FindSubmatch(out)
	switch {
	case err == nil:
		return "–"
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("– (not all in %s)", o.limit)
	case rule == nil:
		return "ended early"
	case before == nil:
		return string(rule[1])
	}
	n := 0
	fmt.Sscan(string(before[1]), &n)
	return fmt.Sprintf("%s, life %d", rule[1], n+1)
}
