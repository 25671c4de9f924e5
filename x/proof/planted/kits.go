package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
)

func buildKits(dir, overlay string) (commands [][]string) {
	for _, c := range controllers {
		commands = append(commands, compileTests(dir, c+"kit", overlay, "./"+c+"/"+c+"test"))
	}
	return commands
}

// rightTests returns the tests of a kit that run a correct subject, so that only this bug can fail
// them. A bug of the planner has two tests: one with a subject that reads its store, and one with a
// subject that sees its store late, through a watch. A bug of gangs has the same two, with groups.
// A bug of a program has one.
func (b *bug) rightTests() []string {
	switch {
	case b.isOfGroups():
		return []string{"^TestBackend_Groups$", "^TestBackend_LateGroups$"}
	case !b.isOfProgram():
		return []string{"^TestBackend_Right$", "^TestBackend_Late$"}
	case b.controller() == "job":
		return []string{"^TestTutorial_Right$/^" + b.subject + "$"}
	}
	return []string{"^TestBackend_Right$"}
}

// askKits runs the subjects of the kit with the bug.
func askKits(b *bug, dir string, o options) verdict {
	v := verdict{cells: make([]string, 2)}
	for i, test := range b.rightTests() {
		found, cell := liveInKit(b, dir, test, o)
		v.found, v.cells[i] = v.found || found, cell
	}
	return v
}

var (
	broken    = regexp.MustCompile(`(?m)^ *(?:\S+: )?(?:day \d+, )?\d\d:\d\d:\d\d  ([A-Z]+\d+|Store): `)
	livesWell = regexp.MustCompile(`(\d+) lives went well before this one`)
)

// liveInKit runs one test of a kit. It returns the text for the bug's table cell: the first rule
// that is broken, and the number of the life.
func liveInKit(b *bug, dir, test string, o options) (found bool, cell string) {
	out, err := runLives(b, testBinary(dir, b.controller()+"kit"), o, "-test.run="+test)
	rule, before := broken.FindSubmatch(out), livesWell.FindSubmatch(out)
	switch {
	case err == nil:
		return false, "–"
	case errors.Is(err, context.DeadlineExceeded):
		return false, notAll(o)
	case rule == nil:
		return true, "ended early"
	case before == nil:
		return true, string(rule[1])
	}
	n := 0
	fmt.Sscan(string(before[1]), &n)
	return true, fmt.Sprintf("%s, life %d", rule[1], n+1)
}
