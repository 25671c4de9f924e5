// Package jobcheck checks what a Job controller decides and writes against the
// invariants of docs/invariants.md.
//
// The checks are functions of values: [Plan] compares a plan with its snapshot, and
// the checks of a [State] compare a write with what the source of truth holds and
// with what has happened so far. None of them changes what it is given, and none
// calls the planner. So they hold for any planner: for the one of package job, for
// one in another language, and for a loop that writes what no plan said.
//
// [State.Status], [State.Create], [State.Untrack] and [State.DeleteUntracked] are asked before a write is
// made, [State.Group] and [State.Member] as well. The [History] learns of it afterwards.
package jobcheck

import "fmt"

// Violation is an invariant that does not hold.
type Violation struct {
	// Rule is the number of the invariant, such as JI7.
	Rule string
	// Problem says what is wrong, with figures and names.
	Problem string
}

// Error is the number and the problem.
func (v Violation) Error() string { return v.Rule + ": " + v.Problem }

// found collects violations.
type found []Violation

func (f *found) add(rule, format string, args ...any) {
	*f = append(*f, Violation{rule, fmt.Sprintf(format, args...)})
}
