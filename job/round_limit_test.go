package job

import (
	"fmt"
	"slices"
	"testing"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
)

// TestJ35_RoomForUIDs: the UIDs in the lists leave less room for new ones (JI5).
func TestJ35_RoomForUIDs(t *testing.T) {
	tests := []struct {
		name              string
		finished, earlier int
		want              int // UIDs after Record
		waits             bool
	}{
		{"all fit", 499, 0, 499, false},
		{"exactly 500 fit", 500, 0, 500, false},
		{"one does not fit", 501, 0, 500, true},
		{"the lists are full", 510, 500, 500, true},
		{"some room is left", 510, 490, 500, true},
	}

	for _, phase := range []PodPhase{PodSucceeded, PodFailed} {
		for _, test := range tests {
			t.Run(phase.String()+"/"+test.name, func(t *testing.T) {
				s := snapshotOf(t, `{"completions": 9999, "parallelism": 0, "backoffLimit": 9999}`)
				recorded := map[PodPhase][]UID{}
				for i := range test.finished {
					uid := fmt.Sprintf("%04d", i)
					s.Pods = append(s.Pods, endedPod(uid, phase))
					if i < test.earlier {
						recorded[phase] = append(recorded[phase], UID(uid))
					}
				}

				s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{Succeeded: recorded[PodSucceeded],
					Failed: recorded[PodFailed]}
				plan := PlanOf(t, s)
				u := plan.Record(doneAll(plan).Writes).Status.UncountedTerminatedPods

				if got := len(u.Succeeded) + len(u.Failed); got != test.want || len(plan.Untrack) != test.want {
					t.Errorf("%d UIDs recorded, %d finalizers to remove, want %d", got, len(plan.Untrack), test.want)
				}
				if waits := slices.ContainsFunc(plan.Waits,
					func(w Wait) bool { return w.Reason == jobreason.WaitUncounted }); waits != test.waits {
					t.Errorf("waits for room: %v, want %v", waits, test.waits)
				}
			})
		}
	}
}

// TestJ35_IndexesAreRecordedAtOnce: a round has room for 500 ended pods that no earlier round has
// recorded, in the order of their indexes. Its first status nevertheless lists all succeeded
// indexes.
func TestJ35_IndexesAreRecordedAtOnce(t *testing.T) {
	var even Indexes
	for i := int32(0); i < 600; i += 2 {
		even = even.With(i, i)
	}
	mixed := func(i int) PodPhase { return PodSucceeded + PodPhase(i%2) }
	succeeded := func(int) PodPhase { return PodSucceeded }
	tests := []struct {
		name               string
		phase              func(i int) PodPhase
		earlier, completed string
		succeeded, failed  int // in the status
		untracked          int
	}{
		{"600 pods", succeeded, "", "0-599", 600, 0, 500},
		{"600 pods, 150 recorded by an earlier round", succeeded, "0-149", "0-599", 600, 0, 600},
		{"600 pods, 50 recorded by an earlier round", succeeded, "0-49", "0-599", 600, 0, 550},
		{"600 pods, all recorded by an earlier round", succeeded, "0-599", "0-599", 600, 0, 600},
		{"every second pod failed", mixed, "", even.String(), 300, 250, 500},
	}
	for name, options := range bothOptions {
		for _, test := range tests {
			t.Run(name+"/"+test.name, func(t *testing.T) {
				var pods []Pod
				for i := range 600 {
					// The age and the UID do not depend on the index.
					p := ofIndex(endedPod(fmt.Sprintf("pod-%04d", i*7%600), test.phase(i)), int32(i))
					p.Detail.CreationTimestamp = second(i * 11 % 30)
					pods = append(pods, p)
				}
				s := snapshotOf(t,
					`{"completions": 1000, "parallelism": 0, "backoffLimit": 1000, "completionMode": "Indexed"}`,
					pods...)
				s.Options = options
				s.Job.Status.CompletedIndexes = test.earlier
				s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{}
				if test.earlier == test.completed {
					s.Job.Status.Succeeded = int32(test.succeeded)
				}
				plan := PlanOf(t, s)
				status := plan.Record(doneAll(plan).Writes).Status
				if status.CompletedIndexes != test.completed || int(status.Succeeded) != test.succeeded {
					t.Errorf("succeeded %d, completed %.60q, want %d and %.60q", status.Succeeded,
						status.CompletedIndexes, test.succeeded, test.completed)
				}
				if got := len(status.UncountedTerminatedPods.Failed); got != test.failed ||
					len(plan.Untrack) != test.untracked {
					t.Errorf("%d UIDs of failed pods, %d finalizers, want %d and %d", got, len(plan.Untrack),
						test.failed, test.untracked)
				}
				if last := plan.Untrack[len(plan.Untrack)-1].Name; last !=
					fmt.Sprintf("pod-%04d", (test.untracked-1)*7%600) && test.untracked < 600 {
					t.Errorf("the last finalizer is %s's, whose index is not %d", last, test.untracked-1)
				}
			})
		}
	}
}

// TestJ35_CappedRoundKeepsSuccesses: a pod that was recorded as failed while it was terminating,
// and has succeeded after all, completes its index, even in a round that has no room for all pods.
func TestJ35_CappedRoundKeepsSuccesses(t *testing.T) {
	for name, options := range bothOptions {
		pods := []Pod{ofIndex(endedPod("recorded", PodSucceeded), 800),
			ofIndex(endedPod("in flight", PodSucceeded), 801)}
		for i := range 600 {
			pods = append(pods, ofIndex(endedPod(fmt.Sprint(i), PodSucceeded), int32(i)))
		}
		s := snapshotOf(t, `{"completions": 1000, "parallelism": 0, "completionMode": "Indexed"}`, pods...)
		s.Options = options
		s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{Failed: []UID{"recorded"}}
		s.Memory = Memory{JobUID: s.Job.UID, Untracking: expectations.NewUIDs("in flight")}
		plan := PlanOf(t, s)
		if got := plan.Record(doneAll(plan).Writes).Status.CompletedIndexes; !plan.basis.Course.Capped ||
			got != "0-599,800,801" {
			t.Errorf("%s: capped %v, completed %q", name, plan.basis.Course.Capped, got)
		}
	}
}

// TestJ35_RoomWithoutTheEnd: a job is past its deadline with 450 active pods of the lowest indexes
// and 300 that have succeeded. If the round declares the end, it gives up the active pods and has
// room for 50 of the others. Otherwise it has room for all that have succeeded.
func TestJ35_RoomWithoutTheEnd(t *testing.T) {
	var pods []Pod
	for i := range 750 {
		pod := activePod(fmt.Sprintf("pod-%04d", i))
		if i >= 450 {
			pod = endedPod(fmt.Sprintf("pod-%04d", i), PodSucceeded)
		}
		pods = append(pods, ofIndex(pod, int32(i)))
	}

	s := snapshotOf(t,
		`{"completions": 750, "parallelism": 750, "completionMode": "Indexed", "activeDeadlineSeconds": 1}`, pods...)
	for name, options := range bothOptions {
		s.Options = options
		plan := PlanOf(t, s)
		for _, test := range []struct {
			name            string
			deleted         jobreason.Result
			succeeded, left int
		}{
			{"the end is declared", jobreason.ResultDone, 50, 0},
			{"a deletion has failed", jobreason.ResultUnsuccessful, 300, 450},
		} {
			done := doneAll(plan)
			done.Deleted[0].Result = test.deleted

			succeeded, unfinished := 0, 450
			for _, u := range plan.Record(done.Writes).Untrack {
				if u.Ended {
					succeeded++
				} else {
					unfinished--
				}
			}

			if succeeded != test.succeeded || unfinished != test.left {
				t.Errorf("%s, %s: %d that have succeeded lose their finalizer and %d active ones keep it, want %d and %d",
					name, test.name, succeeded, unfinished, test.succeeded, test.left)
			}
		}
	}
}

// TestJ35_RecordedIndexesLeaveRoom: with the quirk, a round stops at the pod that fills it. An
// index that the status lists takes no room, so the round has room for one more.
func TestJ35_RecordedIndexesLeaveRoom(t *testing.T) {
	for listed, capped := range map[string]bool{"": true, "0": false} {
		s := snapshotOf(t, `{"completionMode": "Indexed", "completions": 9, "parallelism": 0}`,
			ofIndex(endedPod("a", PodSucceeded), 0), ofIndex(endedPod("b", PodSucceeded), 1))
		s.Options = Options{MaxUncounted: 2, Quirks: jobquirk.SetOf(jobquirk.FullRound)}
		s.Job.Status.CompletedIndexes = listed
		if plan := PlanOf(t, s); plan.basis.Course.Capped != capped || len(plan.Untrack) != 2 {
			t.Errorf("indexes %q are listed: capped %v, want %v\n%s", listed, plan.basis.Course.Capped, capped,
				plan.String())
		}
	}
}
