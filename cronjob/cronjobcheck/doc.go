// Package cronjobcheck checks the decisions and writes of a CronJob controller against the
// invariants of docs/invariants.md.
//
// The checks are functions of values: [Plan] compares a plan with its snapshot, the checks of a
// [State] compare a write with the source of truth. None of them changes its arguments or calls the
// planner, so they work for any planner and any backend.
package cronjobcheck

import (
	"fmt"

	"github.com/batchplan/batchplan/job/jobcheck"
)

// Violation is an invariant that does not hold.
type Violation = jobcheck.Violation

// found collects violations.
type found []Violation

func (f *found) add(rule, format string, args ...any) {
	*f = append(*f, Violation{Rule: rule, Problem: fmt.Sprintf(format, args...)})
}
