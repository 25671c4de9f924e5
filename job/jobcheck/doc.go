// Package jobcheck checks the plans and the writes of a Job controller against the invariants of
// docs/invariants.md.
//
// The checks are functions of values: [Plan] compares a plan with its snapshot, and the methods of
// [State] compare a write with the source of truth and with the history so far. No check changes
// its arguments, and none calls the planner. So the checks work for any planner: for package job,
// for a planner in another language, and for a loop that writes without a plan.
//
// Call [State.Status], [State.Create], [State.Untrack], [State.DeleteUntracked] and [State.Group]
// before a write is made. Update the [History] after it.
package jobcheck

import "fmt"

// Violation is an invariant that does not hold.
type Violation struct {
	// Rule is the number of the invariant, such as JI7.
	Rule string
	// Problem tells what is wrong, with figures and names.
	Problem string
}

// Error returns the number and the problem.
func (v Violation) Error() string { return v.Rule + ": " + v.Problem }

type found []Violation

func (f *found) add(rule, format string, args ...any) {
	*f = append(*f, Violation{rule, fmt.Sprintf(format, args...)})
}
