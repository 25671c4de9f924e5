package jobstatus_test

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobstatus"
)

// A service that writes statuses itself, without an API server that checks them, has the
// rules as a function.
func ExampleCheckTransition() {
	three := int32(3)
	spec := job.Spec{Completions: &three}
	job.Default(&spec)
	old := job.Status{
		StartTime: time.Unix(0, 0), Active: 1, Succeeded: 1,
		UncountedTerminatedPods: &job.UncountedTerminatedPods{Succeeded: []job.UID{"a"}},
	}
	next := old
	next.Succeeded, next.UncountedTerminatedPods = 2, nil
	fmt.Println("a is counted:", jobstatus.CheckTransition(old, next, spec))

	next.Succeeded = 3
	fmt.Println(jobstatus.CheckTransition(old, next, spec))
	// Output:
	// a is counted: <nil>
	// status.succeeded: 3: must rise from 1 by 1, the number of UIDs that leave uncountedTerminatedPods.succeeded
}
