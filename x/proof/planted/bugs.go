package main

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed bugs.txt
var list string

// bug is a mistake that the library has made once, nearly made, or could make.
type bug struct {
	number, subject, what string
	edits                 []edit
}

type edit struct{ file, from, to string }

func parse(text string) (all []bug, err error) {
	var b *bug
	var e *edit
	for n, line := range strings.Split(text, "\n") {
		fail := func(problem string) error { return fmt.Errorf("bugs.txt:%d: %s: %q", n+1, problem, line) }
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "== "):
			number, rest, _ := strings.Cut(line[3:], " ")
			subject, what, ok := strings.Cut(rest, ": ")
			if !ok {
				return nil, fail("want a number, a subject, a colon and what is wrong")
			}
			all = append(all, bug{number: number, subject: subject, what: what})
			b, e = &all[len(all)-1], nil
		case b == nil:
			return nil, fail("no bug begins before this line")
		case strings.HasPrefix(line, "file "):
			b.edits = append(b.edits, edit{file: line[5:]})
			e = &b.edits[len(b.edits)-1]
		case e == nil:
			return nil, fail("no file is named before this line")
		case line[0] == '-':
			e.from = join(e.from, line[1:])
		case line[0] == '+':
			e.to = join(e.to, line[1:])
		default:
			return nil, fail("want a line that begins with - or +")
		}
	}
	return all, nil
}

func join(text, line string) string {
	if text == "" {
		return line
	}
	return text + "\n" + line
}

// controller returns the folder of the planner that has the bug, or that the program with the bug
// calls.
func (b *bug) controller() string {
	folder, _, _ := strings.Cut(b.edits[0].file, "/")
	return folder
}

// isOfLives reports whether the kits, which play random lives, can find the bug.
func (b *bug) isOfLives() bool { return !b.isOfAnswers() }

// isOfProgram reports whether the bug is in a program that calls the planner: a subject of a kit's
// own tests.
func (b *bug) isOfProgram() bool { return strings.HasSuffix(b.edits[0].file, "_test.go") }

func (b *bug) isOfPlanner() bool { return !b.isOfProgram() }

// isOfGroups reports whether the bug shows only where jobs are scheduled as gangs.
func (b *bug) isOfGroups() bool { return b.subject == "groups" }

// isOfAnswers reports whether the bug is in the planner that jobcheck asks, in the code that makes
// an answer of a plan.
func (b *bug) isOfAnswers() bool { return strings.HasPrefix(b.edits[0].file, "x/cmd/jobcheck/") }
