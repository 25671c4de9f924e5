package job

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/release"
)

// exitedPod returns a pod whose container has ended at second(at).
func exitedPod(name string, code int32, at int) Pod {
	p := failedPod([]jobpod.Container{{Name: "main", State: jobpod.Terminated, ExitCode: code, FinishedAt: second(at)}})
	p.Name, p.UID = name, UID(name)
	if code == 0 {
		p.Phase = PodSucceeded
	}
	return p
}

func TestInspect_Pods(t *testing.T) {
	const spec = `{"completions": 5, "parallelism": 5, "podFailurePolicy": {"rules": [
		{"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [1]}},
		{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
		{"action": "Count", "onExitCodes": {"operator": "In", "values": [1, 7]}}]}}`
	disrupted := exitedPod("disrupted", 9, 3)
	disrupted.Detail.Conditions = []PodCondition{{Type: "DisruptionTarget", Status: ConditionTrue}}
	foreign := exitedPod("foreign", 7, 3)
	foreign.Owner = jobpod.Foreign
	got, err := Inspect(snapshotOf(t, spec, exitedPod("a", 1, 2), disrupted, exitedPod("b", 5, 4), exitedPod("c", 0, 5),
		Pod{Name: "d", UID: "d", Phase: PodRunning, Ready: true}, foreign,
		Pod{Name: "e", UID: "e", Phase: PodRunning, Deletion: &PodDeletion{Timestamp: second(40)}}))
	must.OK(t, err)
	want := []PodInspection{
		// FailIndex is skipped without backoffLimitPerIndex.
		{FinishTime: second(2), Failed: true, Counts: true, Match: &PolicyMatch{Rule: 2, Action: CountFailure, Container: "main", ExitCode: 1}},
		{FinishTime: second(3), Failed: true, Match: &PolicyMatch{Rule: 1, Action: IgnoreFailure, Condition: "DisruptionTarget"}},
		{FinishTime: second(4), Failed: true, Counts: true},
		{FinishTime: second(5)},
		{},
		{FinishTime: second(3)},
		{FinishTime: second(40)},
	}
	Same(t, "pods", want, got.Pods)
	figures := Inspection{Active: 1, Ready: 1, Terminating: 1, Succeeded: 1, Failed: 2, Wanted: 4}
	ignored := cmpopts.IgnoreFields(Inspection{}, "Pods", "Backoff")
	Same(t, "figures", figures, got, ignored, cmp.Comparer(Indexes.Equal))
}

// TestInspect_AsReconcile: Inspect returns the figures of the round that Reconcile plans, even for
// a release that lacks a feature. It refuses the same pods as Reconcile.
func TestInspect_AsReconcile(t *testing.T) {
	leaving := Pod{Name: "e", UID: "e", Phase: PodRunning, Deletion: &PodDeletion{Timestamp: second(40)}}
	s := snapshotOf(t, `{"completions": 5, "parallelism": 5, "podReplacementPolicy": "Failed"}`, leaving)
	for gates, failed := range map[release.Gates]int64{{}: 0, release.GatesOf(release.JobPodReplacementPolicy): 1} {
		s.Options.Without = gates
		got, err := Inspect(s)
		if err != nil || got.Failed != failed || got.Pods[0].Failed != (failed == 1) {
			t.Errorf("without %v: %d failed, %+v, %v", gates, got.Failed, got.Pods, err)
		}
	}
	s.Pods = append(s.Pods, leaving)
	_, want := Reconcile(s)
	if _, err := Inspect(s); want == nil || err == nil || err.Error() != want.Error() {
		t.Errorf("two pods of one UID: %v, want %v", err, want)
	}
}

// TestInspect_Retries: the failures of an index are those before its last pod, and the failure of
// that pod (J18). The backoff of the index is the delay after all of them (J31).
func TestInspect_Retries(t *testing.T) {
	pod := func(index, failures int32, at int) Pod {
		p := exitedPod("p"+IndexAt(index).String(), 1, at)
		p.Index, p.Detail.FailureCount = IndexAt(index), failures
		return p
	}
	const spec = `{"completions": 4, "parallelism": 4, "completionMode": "Indexed", "backoffLimitPerIndex": 2}`
	got, err := Inspect(snapshotOf(t, spec, pod(3, 1, 5), pod(0, 2, 6), pod(1, 0, 7)))
	must.OK(t, err)
	want := []IndexRetry{
		{Index: IndexAt(1), Failures: 1, Due: second(7).Add(10 * time.Second)},
		{Index: IndexAt(3), Failures: 2, Due: second(5).Add(20 * time.Second)},
	}
	Same(t, "retries", want, got.Retries)
	if got.FailedIndexes.String() != "0" || got.CompletedIndexes.String() != "" {
		t.Errorf("failed %s, completed %s", got.FailedIndexes, got.CompletedIndexes)
	}
}

// TestInspect_EndedJob: Inspect also works for a job that has ended, or that another controller
// manages.
func TestInspect_EndedJob(t *testing.T) {
	s := snapshotOf(t, `{"completions": 2, "managedBy": "example.com/other"}`, exitedPod("a", 3, 2))
	s.Pods[0].Untracked = true
	s.Job.Status.Failed = 1
	s.Job.Status.Conditions = []Condition{{Type: ConditionFailed, Status: ConditionTrue}}

	got, err := Inspect(s)
	must.OK(t, err)
	if got.Failed != 1 || !got.Pods[0].Failed || !got.Pods[0].FinishTime.Equal(second(2)) {
		t.Errorf("got %+v", got)
	}

	s.Memory = Memory{JobUID: "job-1", Backoff: backoff.Record{Failures: 3, LastFailure: second(2)}}
	got, err = Inspect(s)
	must.OK(t, err)
	Same(t, "the backoff that is remembered", s.Memory.Backoff, got.Backoff)

	s.Memory.JobUID = "another"
	got, err = Inspect(s)
	must.OK(t, err)
	Same(t, "the backoff of another job", backoff.Record{}, got.Backoff)

	for what, s := range map[string]Snapshot{
		"a UID":          with(s, func(s *Snapshot) { s.Job.UID = "" }),
		"a UID of a pod": with(s, func(s *Snapshot) { s.Pods = []Pod{{Name: "a", Phase: PodFailed}} }),
	} {
		if _, err := Inspect(s); err == nil {
			t.Errorf("no error without %s", what)
		}
	}
}

// TestInferBackoff: the record has the failures that were counted, but not those of new pods (J31).
func TestInferBackoff(t *testing.T) {
	counted := func(p Pod) Pod { p.Untracked = true; return p }
	for _, test := range []struct {
		name string
		spec string
		pods []Pod
		want backoff.Record
	}{
		{"no pods", `{}`, nil, backoff.Record{}},
		{"a pod that is not counted yet", `{}`, []Pod{exitedPod("a", 1, 3)}, backoff.Record{}},
		{"failures that are counted", `{}`, []Pod{counted(exitedPod("a", 1, 9)), counted(exitedPod("b", 1, 3))}, backoff.Record{Failures: 2, LastFailure: second(9)}},
		{"a failure that is recorded", `{}`, []Pod{exitedPod("recorded", 1, 4)}, backoff.Record{Failures: 1, LastFailure: second(4)}},
		{"a success in between", `{}`, []Pod{counted(exitedPod("a", 1, 3)), counted(exitedPod("b", 0, 4)), counted(exitedPod("c", 1, 5))}, backoff.Record{Failures: 1, LastFailure: second(5)}},
		{"limits index by index", `{"completions": 1, "completionMode": "Indexed", "backoffLimitPerIndex": 2}`, []Pod{counted(exitedPod("a", 1, 3))}, backoff.Record{}},
	} {
		s := snapshotOf(t, test.spec, test.pods...)
		s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{Failed: []UID{"recorded"}}
		Same(t, test.name, test.want, InferBackoff(s))
	}
}

// TestInspect_DeletedPods: if the job replaces terminating pods immediately, they count as failed,
// unless they have succeeded. Running pods that are not being deleted do not count as failed.
func TestInspect_DeletedPods(t *testing.T) {
	s := snapshotOf(t, `{"completions": 9, "completionMode": "Indexed", "parallelism": 3}`)
	s.Job.Status.CompletedIndexes, s.Job.Status.Succeeded = "0-1", 2
	for i, phase := range []PodPhase{PodRunning, PodRunning, PodSucceeded} {
		p := Pod{Name: phase.String(), UID: UID(rune('a' + i)), Index: IndexAt(int32(i + 2)), Phase: phase}
		if i > 0 {
			p.Deletion = &PodDeletion{Timestamp: second(9)}
		}
		s.Pods = append(s.Pods, p)
	}
	got, err := Inspect(s)
	must.OK(t, err)
	for i, want := range []bool{false, true, false} {
		if got.Pods[i].Failed != want {
			t.Errorf("pod %d has failed: %v, want %v", i, got.Pods[i].Failed, want)
		}
	}
	if got.CompletedIndexes.String() != "0,1,4" {
		t.Errorf("completed are %s", got.CompletedIndexes)
	}
}
