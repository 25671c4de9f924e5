package jobstatus_test

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobstatus"
	"github.com/batchplan/batchplan/job/release"
)

// A service that writes statuses without an API server can check them with this function.
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
	fmt.Println("a is counted:", jobstatus.CheckTransition(old, next, spec, release.Newest()))

	next.Succeeded = 3
	fmt.Println(jobstatus.CheckTransition(old, next, spec, release.Newest()))
	// Output:
	// a is counted: <nil>
	// status.succeeded: 3: must rise from 1 by 1, the number of UIDs that leave uncountedTerminatedPods.succeeded
}

// A job runs in three clusters, and fails in two of them.
func ExampleAggregate() {
	spec, at := job.Spec{}, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	job.Default(&spec)
	failed := job.Status{Conditions: []job.Condition{
		{Type: job.ConditionFailed, Status: job.ConditionTrue, Reason: "BackoffLimitExceeded", Message: "too many pods have failed"},
	}}
	parts := []jobstatus.Part{
		{Name: "east", Status: failed},
		{Name: "north", Status: job.Status{StartTime: at, Active: 2}},
		{Name: "west", Status: failed},
	}

	next := jobstatus.Aggregate(job.Status{}, spec, parts, at, release.Newest())
	fmt.Println(next.Condition(job.ConditionFailureTarget).Message)
	fmt.Println(jobstatus.CheckServed(job.Status{}, next, spec, release.Newest()))

	count := func(failed []jobstatus.Part) (reason, message string) {
		return "ClustersFailed", fmt.Sprintf("%d of %d clusters", len(failed), len(parts))
	}
	next = jobstatus.AggregateFunc(job.Status{}, spec, parts, count, at, release.Newest())
	fmt.Println(next.Condition(job.ConditionFailureTarget).Message)
	// Output:
	// east, west: too many pods have failed
	// <nil>
	// 2 of 3 clusters
}

// A test of another program suspends a job, resumes it and ends it, with statuses that each server
// accepts.
func ExampleFinish() {
	spec, at := job.Spec{}, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	job.Default(&spec)
	suspended, yes := spec, true
	suspended.Suspend = &yes
	end := job.Verdict{Type: job.ConditionSuccessCriteriaMet, Reason: "CompletionsReached"}

	s, err := jobstatus.Suspend(job.Status{}, suspended, at, release.Newest())
	if err == nil {
		s, err = jobstatus.Resume(s, spec, at.Add(time.Hour), release.Newest())
	}
	if err == nil {
		s, err = jobstatus.Announce(s, spec, end, at.Add(2*time.Hour), release.Newest())
	}
	if err == nil {
		s, err = jobstatus.Finish(s, spec, end, at.Add(3*time.Hour), release.Newest())
	}
	for _, c := range s.Conditions {
		fmt.Println(c.Type, c.Status, c.LastTransitionTime.Format(time.TimeOnly))
	}
	fmt.Println(err)
	// Output:
	// Suspended False 13:00:00
	// SuccessCriteriaMet True 14:00:00
	// Complete True 15:00:00
	// <nil>
}
