package job

import (
	"fmt"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/expectations"
)

// bothOptions are the options that a rule without a quirk must not depend on.
var bothOptions = map[string]Options{"default": {}, "Kubernetes136": Kubernetes136()}

// ofIndex gives the pod an index.
func ofIndex(p Pod, index int32) Pod {
	p.Index = IndexAt(index)
	return p
}

// orphaned is the pod before it was adopted.
func orphaned(p Pod) Pod {
	p.Owner, p.Untracked = Orphan, true
	return p
}

// failedAt is a tracked pod of an index that has failed at second(at).
func failedAt(index int32, at int) Pod {
	p := ofIndex(endedPod(fmt.Sprintf("pod-%04d", index), PodFailed), index)
	p.Detail.Containers[0].FinishedAt = second(at)
	return p
}

// TestJ17_RecordedPodKeepsItsCount: the failure count of an index is on its failed pod
// until a replacement has it, also after a round that has recorded the pod. Without
// the pod the count would begin again at 0, and the backoff would be lost (JI21).
func TestJ17_RecordedPodKeepsItsCount(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Snapshot)
		want   string // the plan
		uids   int    // that are uncounted at the end of the round
	}{
		{"the backoff holds the index", func(*Snapshot) {}, "", 1},
		{"the replacement is created", func(s *Snapshot) { s.Now = second(100) }, "create index 0, failures 1", 1},
		{"the replacement exists", func(s *Snapshot) { s.Pods = append(s.Pods, ofIndex(activePod("b"), 0)) },
			"untrack pod-0000: recorded earlier", 0},
		{"the index has succeeded", func(s *Snapshot) { s.Job.Status.CompletedIndexes, s.Job.Status.Succeeded = "0", 1 },
			"untrack pod-0000: recorded earlier", 0},
		{"the job ends", func(s *Snapshot) { *s.Job.Spec.BackoffLimit = 0 }, "untrack pod-0000, if the end is declared: recorded earlier", 0},
		{"the job is being deleted", func(s *Snapshot) { s.Job.DeletionTimestamp = second(29) },
			"untrack pod-0000: recorded earlier", 0},
	}
	for name, options := range bothOptions {
		for _, test := range tests {
			t.Run(name+"/"+test.name, func(t *testing.T) {
				s := snapshotOf(t, `{"completions": 2, "parallelism": 1, "completionMode": "Indexed", "backoffLimitPerIndex": 3}`, failedAt(0, 29))
				s.Options = options
				s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{Failed: []string{"pod-0000"}}
				test.change(&s)
				plan := planOf(t, s)
				text := plan.String()
				if touched := len(plan.Create)+len(plan.Untrack) > 0; touched != (test.want != "") || !strings.Contains(text, test.want) {
					t.Errorf("want %q:\n%s", test.want, text)
				}
				status := settled(plan, doneAll(plan)).Status
				if u := status.UncountedTerminatedPods; len(u.Failed) != test.uids || int(status.Failed) != 1-test.uids {
					t.Errorf("uncounted %v, failed %d, want %d UIDs", u, status.Failed, test.uids)
				}
			})
		}
	}
}

// TestJ31_WaitingIndexes: indexes in their backoff leave the room of the round to
// those that are due. The quirk has it the other way.
func TestJ31_WaitingIndexes(t *testing.T) {
	tests := []struct {
		waiting, quirk, want int
	}{
		{waiting: 100, quirk: 400, want: 500},
		{waiting: 500, quirk: 0, want: 500},
		{waiting: 600, quirk: 0, want: 500},
	}
	for _, test := range tests {
		var pods []Pod
		for i := range test.waiting {
			pods = append(pods, failedAt(int32(i), 29))
		}
		s := snapshotOf(t, `{"completions": 1200, "parallelism": 1200, "completionMode": "Indexed", "backoffLimitPerIndex": 3}`, pods...)
		for options, want := range map[*Options]int{{}: test.want, pointTo(Kubernetes136()): test.quirk} {
			s.Options = *options
			plan := planOf(t, s)
			if got := len(plan.Create); got != want {
				t.Errorf("%d indexes wait, quirks %b: %d creations, want %d", test.waiting, options.Quirks, got, want)
			}
			if len(plan.Create) > 0 && plan.Create[0].Index != IndexAt(int32(test.waiting)) {
				t.Errorf("%d indexes wait, quirks %b: the first creation is of index %d", test.waiting, options.Quirks, plan.Create[0].Index)
			}
			if want := second(39); want != plan.Requeue.At && (len(plan.Create) == 0 || options.Quirks == 0) {
				t.Errorf("%d indexes wait, quirks %b: again at %v, want %v", test.waiting, options.Quirks, plan.Requeue.At, want)
			}
		}
	}
}

// TestJ16_RemovalInFlight: a pod whose finalizer was removed is done, but the status
// may be as old as the pod. Its index must not run again (JI7).
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
				s := snapshotOf(t, `{"completions": 2, "parallelism": 1, "completionMode": "Indexed", "backoffLimitPerIndex": 0}`, test.pod)
				s.Options = options
				s.Memory = Memory{JobUID: s.Job.UID, Untracking: expectations.NewUIDs("a")}
				plan := planOf(t, s)
				status := plan.Record(doneAll(plan).Writes).Status
				if status.CompletedIndexes != test.completed || *status.FailedIndexes != test.failed {
					t.Errorf("completed %q, failed %q, want %q and %q", status.CompletedIndexes, *status.FailedIndexes, test.completed, test.failed)
				}
				if len(plan.Create) != 1 || plan.Create[0].Index != IndexAt(1) || len(plan.Untrack)+len(plan.Adopt) > 0 {
					t.Errorf("want a creation of index 1 only:\n%s", plan.String())
				}
			})
		}
	}
}

// TestJ16_FailedIndexesWithoutLimit: without backoffLimitPerIndex no index can fail,
// and a list that the status has from elsewhere goes. A NonIndexed job keeps it.
func TestJ16_FailedIndexesWithoutLimit(t *testing.T) {
	for name, options := range bothOptions {
		for mode, want := range map[string]*string{"Indexed": nil, "NonIndexed": pointTo("1")} {
			s := snapshotOf(t, `{"completions": 2, "completionMode": "`+mode+`"}`, ofIndex(activePod("a"), 0))
			s.Options = options
			s.Job.Status.Active, s.Job.Status.Ready = 1, pointTo[int32](1)
			s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{}
			s.Job.Status.FailedIndexes = pointTo("1")
			recording := planOf(t, s).Record(Writes{})
			if got := recording.Status.FailedIndexes; !equalPointed(got, want) || recording.Write != (want == nil) {
				t.Errorf("%s, %s: failed indexes %v, written: %v", name, mode, got, recording.Write)
			}
		}
	}
}

// TestJI6_CompletedAndFailed: no index is in both lists, whatever the status and the
// pods say. What the status says stands, and otherwise success wins.
func TestJI6_CompletedAndFailed(t *testing.T) {
	failed, succeeded := ofIndex(endedPod("a", PodFailed), 0), ofIndex(endedPod("b", PodSucceeded), 0)
	tests := []struct {
		name                             string
		completed, failed                string // in the status
		pods                             []Pod
		wantCompleted, wantFailed, notes string
	}{
		{"completed by the status, failed by a pod", "0", "", []Pod{failed}, "0", "", ""},
		{"failed by the status, completed by a pod", "", "0", []Pod{succeeded}, "", "0", ""},
		{"both by pods", "", "", []Pod{failed, succeeded}, "0", "", ""},
		{"both by the status", "0,2-4", "0,3,5", nil, "0,2-4", "5", "job.status.failedIndexes"},
	}
	for name, options := range bothOptions {
		for _, test := range tests {
			t.Run(name+"/"+test.name, func(t *testing.T) {
				s := snapshotOf(t, `{"completions": 9, "parallelism": 0, "completionMode": "Indexed", "backoffLimitPerIndex": 0}`, test.pods...)
				s.Options = options
				s.Job.Status.CompletedIndexes, s.Job.Status.FailedIndexes = test.completed, &test.failed
				plan := planOf(t, s)
				recording := plan.Record(doneAll(plan).Writes)
				if got := recording.Status; got.CompletedIndexes != test.wantCompleted || *got.FailedIndexes != test.wantFailed {
					t.Errorf("completed %q, failed %q, want %q and %q", got.CompletedIndexes, *got.FailedIndexes, test.wantCompleted, test.wantFailed)
				}
				if changed := test.completed != test.wantCompleted || test.failed != test.wantFailed; changed && !recording.Write {
					t.Error("the status is not written")
				}
				if got := fmt.Sprint(plan.Notes); !strings.Contains(got, test.notes) || (test.notes == "") != (len(plan.Notes) == 0) {
					t.Errorf("notes %s, want %q", got, test.notes)
				}
			})
		}
	}
}
