package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// doneAll is the outcome in which every write of the plan took effect.
func doneAll(p *Plan) Outcome {
	o := Outcome{Claimed: Done, Recorded: Done, Settled: Done}
	for range p.Delete {
		o.Deleted = append(o.Deleted, Effect{Result: Done})
	}
	for _, c := range p.Create {
		o.Created = append(o.Created, Effect{Result: Done, Pod: PodRef{Name: c.NamePrefix + "x", UID: c.NamePrefix + "x"}})
	}
	for range p.Record(o).Untrack {
		o.Untracked = append(o.Untracked, Done)
	}
	return o
}

func TestJ42_Facts(t *testing.T) {
	ended := func(uid string, phase PodPhase, index int32) Pod {
		code := int32(0)
		if phase == PodFailed {
			code = 42
		}
		return Pod{UID: uid, Name: uid, Phase: phase, Tracked: true, Index: index, Detail: &PodDetail{
			Containers: []Container{exited("main", AppContainer, code)},
		}}
	}
	running := Pod{UID: "r", Name: "r", Phase: PodRunning, Tracked: true, Index: 2}
	leaving := Pod{UID: "l", Name: "l", Phase: PodRunning, Tracked: true, Index: NoIndex, Deletion: &PodDeletion{Timestamp: second(40)}}
	const policy = `"podFailurePolicy": {"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [42]}}]}`
	tests := []struct {
		name string
		snap Snapshot
		fail bool // the first creation fails
		want Facts
	}{
		{"a round in which nothing happens", snapshotOf(t, `{}`, running), false,
			Facts{CompletionMode: NonIndexed, Action: ActionReconciling}},
		{"the first pods", snapshotOf(t, `{"parallelism": 2}`), false,
			Facts{CompletionMode: NonIndexed, Action: ActionPodsCreated, PodsCreated: 2, CreateReason: CreateNew}},
		{"a creation fails, and counts once", snapshotOf(t, `{"parallelism": 2}`), true,
			Facts{CompletionMode: NonIndexed, Action: ActionPodsCreated, PodsCreated: 1, PodsNotCreated: 1, CreateReason: CreateNew, Failed: true}},
		{"a terminating pod is replaced", snapshotOf(t, `{"backoffLimit": 0}`, Pod{UID: "u", Name: "u", Deletion: &PodDeletion{}, Index: NoIndex}), false,
			Facts{CompletionMode: NonIndexed, Action: ActionPodsCreated, PodsCreated: 1, CreateReason: CreateReplacement}},
		{"terminating pods are not replaced, another is started", snapshotOf(t, `{"parallelism": 2, "podReplacementPolicy": "Failed"}`, leaving), false,
			Facts{CompletionMode: NonIndexed, Action: ActionPodsCreated, PodsCreated: 1, CreateReason: CreateNew}},
		{"pods are deleted", snapshotOf(t, `{"parallelism": 0}`, running), false,
			Facts{CompletionMode: NonIndexed, Action: ActionPodsDeleted}},
		{"a pod has failed", snapshotOf(t, `{"parallelism": 1}`, ended("a", PodFailed, NoIndex), running), false,
			Facts{CompletionMode: NonIndexed, Action: ActionTracking, PodsFailed: 1, Untracked: 1}},
		{"a failure is ignored", snapshotOf(t, `{"parallelism": 1, `+policy+`}`, ended("a", PodFailed, NoIndex), running), false,
			Facts{CompletionMode: NonIndexed, Action: ActionTracking, Policy: PolicyCounts{Ignore: 1}, Untracked: 1}},
		{"the job completes", snapshotOf(t, `{}`, ended("a", PodSucceeded, NoIndex)), false,
			Facts{CompletionMode: NonIndexed, Action: ActionTracking, PodsSucceeded: 1, Untracked: 1, Finished: Complete, FinishedReason: "CompletionsReached"}},
		{"the job fails", snapshotOf(t, `{"backoffLimit": 0}`, ended("a", PodFailed, NoIndex)), false,
			Facts{CompletionMode: NonIndexed, Action: ActionTracking, PodsFailed: 1, Untracked: 1, Finished: Failed, FinishedReason: "BackoffLimitExceeded"}},
		{"indexes have ended", snapshotOf(t, `{"completions": 3, "parallelism": 3, "completionMode": "Indexed", "backoffLimitPerIndex": 0}`,
			ended("a", PodSucceeded, 0), ended("b", PodFailed, 1), running), false,
			Facts{CompletionMode: Indexed, Action: ActionTracking, PodsSucceeded: 1, PodsFailed: 1, IndexesSucceeded: 1, IndexesFailed: 1, Untracked: 2}},
		{"the job is managed by somebody else", snapshotOf(t, `{"managedBy": "example.com/queue"}`), false,
			Facts{CompletionMode: NonIndexed, Action: ActionReconciling, ManagedBy: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			plan, err := Reconcile(test.snap)
			if err != nil {
				t.Fatal(err)
			}
			o := doneAll(&plan)
			if test.fail {
				o.Created[0] = Effect{Result: Unsuccessful, Error: "quota"}
			}
			if diff := cmp.Diff(test.want, plan.Conclude(o).Facts); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, plan.String())
			}
		})
	}
}

func TestJ42_CreateReasonMetric(t *testing.T) {
	for reason, want := range map[CreateReason]string{
		CreateNew:                 "new",
		CreateReplacement:         "recreate_terminating_or_failed",
		CreateReplacementOfFailed: "recreate_failed",
	} {
		if got := reason.Metric(); got != want {
			t.Errorf("%v: got %q, want %q", reason, got, want)
		}
	}
}
