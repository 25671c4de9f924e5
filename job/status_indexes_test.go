package job

import (
	"testing"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/value"
)

// TestJ16_RemovalInFlight: the snapshot still shows a finalizer that was removed, so its status may
// also be from before the removal. Even so, the pod's index must not run again (JI7).
func TestJ16_RemovalInFlight(t *testing.T) {
	terminating := ofIndex(activePod("a"), 0)
	terminating.Deletion = &PodDeletion{Timestamp: second(60), GracePeriodSeconds: 30}
	tests := []struct {
		name              string
		pod               Pod
		completed, failed string
	}{
		{"terminating, which counts as failed", terminating, "", "0"},
		{"failed", ofIndex(endedPod("a", PodFailed), 0), "", "0"},
		{"succeeded", ofIndex(endedPod("a", PodSucceeded), 0), "0", ""},
		{"an orphan that was adopted and has failed", orphaned(ofIndex(endedPod("a", PodFailed), 0)), "", "0"},
		{"an orphan that was adopted and has succeeded", orphaned(ofIndex(endedPod("a", PodSucceeded), 0)), "0", ""},
	}

	for name, options := range bothOptions {
		for _, test := range tests {
			t.Run(name+"/"+test.name, func(t *testing.T) {
				s := snapshotOf(t,
					`{"completions": 2, "parallelism": 1, "completionMode": "Indexed", "backoffLimitPerIndex": 0}`,
					test.pod)
				s.Options = options
				s.Memory = Memory{JobUID: s.Job.UID, Untracking: expectations.NewUIDs("a")}

				plan := PlanOf(t, s)
				status := plan.Record(doneAll(plan).Writes).Status
				if status.CompletedIndexes != test.completed || *status.FailedIndexes != test.failed {
					t.Errorf("completed %q, failed %q, want %q and %q", status.CompletedIndexes, *status.FailedIndexes,
						test.completed, test.failed)
				}
				if len(plan.Create) != 1 || plan.Create[0].Index != IndexAt(1) ||
					len(plan.Untrack)+len(plan.Adopt) > 0 {
					t.Errorf("want a creation of index 1 only:\n%s", plan.String())
				}
			})
		}
	}
}

// TestJ16_FailedIndexesWithoutLimit: without backoffLimitPerIndex no index can fail, and an
// existing list in the status is removed. A NonIndexed job keeps it.
func TestJ16_FailedIndexesWithoutLimit(t *testing.T) {
	for name, options := range bothOptions {
		for mode, want := range map[string]*string{"Indexed": nil, "NonIndexed": value.To("1")} {
			s := snapshotOf(t, `{"completions": 2, "completionMode": "`+mode+`"}`, ofIndex(activePod("a"), 0))
			s.Options = options
			s.Job.Status.Active, s.Job.Status.Ready = 1, value.To[int32](1)
			s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{}
			s.Job.Status.FailedIndexes = value.To("1")
			recording := PlanOf(t, s).Record(Writes{})
			if got := recording.Status.FailedIndexes; !value.Equal(got, want) || recording.Write != (want == nil) {
				t.Errorf("%s, %s: failed indexes %v, written: %v", name, mode, got, recording.Write)
			}
		}
	}
}

// TestJI6_CompletedAndFailed: no index gets into both lists, even if the status and the pods
// disagree. The lists of the status win, and otherwise a success wins.
func TestJI6_CompletedAndFailed(t *testing.T) {
	failed, succeeded := ofIndex(endedPod("a", PodFailed), 0), ofIndex(endedPod("b", PodSucceeded), 0)
	tests := []struct {
		name                            string
		completed, failed               string // in the status
		pods                            []Pod
		wantCompleted, wantFailed, note string
	}{
		{"completed by the status, failed by a pod", "0", "", []Pod{failed}, "0", "", ""},
		{"failed by the status, completed by a pod", "", "0", []Pod{succeeded}, "", "0", ""},
		{"both by pods", "", "", []Pod{failed, succeeded}, "0", "", ""},
		{"both by the status alone", "0", "0", nil, "0", "", `job.status.failedIndexes: "0": has completed indexes; they are left out`},
		{"both by the status", "0,2-4", "0,3,5", nil, "0,2-4", "5", `job.status.failedIndexes: "0,3,5": has completed indexes; they are left out`},
	}

	for name, options := range bothOptions {
		for _, test := range tests {
			t.Run(name+"/"+test.name, func(t *testing.T) {
				s := snapshotOf(t,
					`{"completions": 9, "parallelism": 0, "completionMode": "Indexed", "backoffLimitPerIndex": 0}`,
					test.pods...)
				s.Options = options
				s.Job.Status.CompletedIndexes, s.Job.Status.FailedIndexes = test.completed, &test.failed

				plan := PlanOf(t, s)
				recording := plan.Record(doneAll(plan).Writes)
				if got := recording.Status; got.CompletedIndexes != test.wantCompleted ||
					*got.FailedIndexes != test.wantFailed {
					t.Errorf("completed %q, failed %q, want %q and %q", got.CompletedIndexes, *got.FailedIndexes,
						test.wantCompleted, test.wantFailed)
				}
				if changed := test.completed != test.wantCompleted || test.failed != test.wantFailed; changed &&
					!recording.Write {
					t.Error("the status is not written")
				}
				if got := notesOf(plan); got != test.note {
					t.Errorf("notes %s, want %s", got, test.note)
				}
			})
		}
	}
}

// TestJI6_TwoBillionInBothLists: the lists are separated range by range. A list of 13 bytes names
// all indexes that a job can have.
func TestJI6_TwoBillionInBothLists(t *testing.T) {
	for _, test := range []struct{ completed, failed, want string }{
		{"0", "0-2147483646", "1-2147483646"},
		{"0-2147483646", "0-2147483646", ""},
		{"5-2147483646", "0-2147483646", "0-4"},
	} {
		s := snapshotOf(t, `{"completions": 2147483647, "parallelism": 10, "completionMode": "Indexed", "backoffLimitPerIndex": 1, "maxFailedIndexes": 5}`)
		s.Job.Status.CompletedIndexes, s.Job.Status.FailedIndexes = test.completed, &test.failed
		plan := PlanOf(t, s)
		if got := plan.Record(doneAll(plan).Writes).Status; got.CompletedIndexes != test.completed ||
			*got.FailedIndexes != test.want {
			t.Errorf("completed %q, failed %q, want %q and %q", got.CompletedIndexes, *got.FailedIndexes,
				test.completed, test.want)
		}
	}
}

// TestJ15_RecordedBeyondCompletions: an elastic job has recorded a failed pod and was then shrunk,
// so that the pod's index is beyond completions. The index does not fail, and the pod loses its
// finalizer without a replacement.
func TestJ15_RecordedBeyondCompletions(t *testing.T) {
	for _, limit := range []string{"0", "1"} {
		s := snapshotOf(t,
			`{"completionMode": "Indexed", "completions": 1, "parallelism": 1, "backoffLimitPerIndex": `+limit+`}`,
			ofIndex(activePod("a"), 0), ofIndex(endedPod("b", PodFailed), 5))
		s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{Failed: []UID{"b"}}
		plan := PlanOf(t, s)
		if len(plan.Untrack) != 1 || plan.Untrack[0].UID != "b" {
			t.Errorf("limit %s: the pod keeps its finalizer:\n%s", limit, plan)
		}
		if end := plan.Conclude(doneAll(plan)); end.Retry || end.Metrics.IndexesFailed != 0 {
			t.Errorf("limit %s: %d indexes have failed, retry %v", limit, end.Metrics.IndexesFailed, end.Retry)
		}
	}
}
