package job

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/expectations"
)

// TestM5_UIDInBothLists: a status that holds a UID in both lists is refused by the API
// server for ever ("Duplicate value"). The first verdict stays, and the job goes on (JI2, L1).
func TestM5_UIDInBothLists(t *testing.T) {
	tests := []struct {
		name              string
		lists             UncountedTerminatedPods
		pods              []Pod
		succeeded, failed int32
		recorded          *UncountedTerminatedPods
		notes             int
	}{
		{"in both lists", UncountedTerminatedPods{Succeeded: []string{"a"}, Failed: []string{"a"}},
			[]Pod{endedPod("a", PodSucceeded)}, 1, 0, &UncountedTerminatedPods{Succeeded: []string{"a"}}, 1},
		{"in both lists, and the finalizer is gone", UncountedTerminatedPods{Succeeded: []string{"a"}, Failed: []string{"a"}},
			nil, 1, 0, nil, 1},
		{"twice in one list", UncountedTerminatedPods{Failed: []string{"a", "a", "b"}},
			[]Pod{endedPod("a", PodFailed), endedPod("b", PodFailed)}, 0, 2, &UncountedTerminatedPods{Failed: []string{"a", "b"}}, 1},
		{"an empty UID", UncountedTerminatedPods{Succeeded: []string{""}, Failed: []string{"a"}},
			[]Pod{endedPod("a", PodFailed)}, 0, 1, &UncountedTerminatedPods{Failed: []string{"a"}}, 1},
		{"failed by the list and succeeded after all", UncountedTerminatedPods{Failed: []string{"a"}},
			[]Pod{endedPod("a", PodSucceeded)}, 0, 1, &UncountedTerminatedPods{Failed: []string{"a"}}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, `{"completions": 9, "parallelism": 0}`, test.pods...)
			s.Job.Status.UncountedTerminatedPods = &test.lists
			plan := planOf(t, s)
			o := doneAll(plan)
			if got := plan.Record(o.Writes).Status.UncountedTerminatedPods; !equalUncounted(test.recorded, got) {
				t.Errorf("recorded %v, want %v", got, test.recorded)
			}
			final := settled(plan, o).Status
			if final.Succeeded != test.succeeded || final.Failed != test.failed || !equalUncounted(final.UncountedTerminatedPods, nil) {
				t.Errorf("settled %v, want succeeded=%d failed=%d", final, test.succeeded, test.failed)
			}
			if len(plan.Notes) != test.notes {
				t.Errorf("notes %v, want %d", plan.Notes, test.notes)
			}
		})
	}
}

// TestJ35_RoomForUIDs: what the lists hold, and how much room that leaves (JI5).
func TestJ35_RoomForUIDs(t *testing.T) {
	pods := func(n, recorded int, phase PodPhase) (out []Pod, uids []string) {
		for i := range n {
			out = append(out, endedPod(fmt.Sprintf("%04d", i), phase))
			if i < recorded {
				uids = append(uids, out[i].UID)
			}
		}
		return out, uids
	}
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
				finished, uids := pods(test.finished, test.earlier, phase)
				s := snapshotOf(t, `{"completions": 9999, "parallelism": 0, "backoffLimit": 9999}`, finished...)
				s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{Succeeded: uids}
				if phase == PodFailed {
					s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{Failed: uids}
				}
				plan := planOf(t, s)
				u := plan.Record(doneAll(plan).Writes).Status.UncountedTerminatedPods
				if got := len(u.Succeeded) + len(u.Failed); got != test.want || len(plan.Untrack) != test.want {
					t.Errorf("%d UIDs recorded, %d finalizers to remove, want %d", got, len(plan.Untrack), test.want)
				}
				waits := false
				for _, w := range plan.Waits {
					waits = waits || w.Reason == WaitUncounted
				}
				if waits != test.waits {
					t.Errorf("waits for room: %v, want %v", waits, test.waits)
				}
			})
		}
	}
}

// TestJ35_IndexesAreRecordedAtOnce: the 500 of a round are finalizers and UIDs, by
// index. All indexes that succeeded are in the first status, in one piece.
func TestJ35_IndexesAreRecordedAtOnce(t *testing.T) {
	var everySecond []string
	for i := 0; i < 600; i += 2 {
		everySecond = append(everySecond, strconv.Itoa(i))
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
		{"every second pod failed", mixed, "", strings.Join(everySecond, ","), 300, 250, 500},
	}
	for name, options := range bothOptions {
		for _, test := range tests {
			t.Run(name+"/"+test.name, func(t *testing.T) {
				var pods []Pod
				for i := range 600 {
					// The age and the UID have nothing to do with the index.
					p := ofIndex(endedPod(fmt.Sprintf("pod-%04d", i*7%600), test.phase(i)), int32(i))
					p.Detail.CreationTimestamp = second(i * 11 % 30)
					pods = append(pods, p)
				}
				s := snapshotOf(t, `{"completions": 1000, "parallelism": 0, "backoffLimit": 1000, "completionMode": "Indexed"}`, pods...)
				s.Options = options
				s.Job.Status.CompletedIndexes = test.earlier
				s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{}
				if test.earlier == test.completed {
					s.Job.Status.Succeeded = int32(test.succeeded)
				}
				plan := planOf(t, s)
				status := plan.Record(doneAll(plan).Writes).Status
				if status.CompletedIndexes != test.completed || int(status.Succeeded) != test.succeeded {
					t.Errorf("succeeded %d, completed %.60q, want %d and %.60q", status.Succeeded, status.CompletedIndexes, test.succeeded, test.completed)
				}
				if got := len(status.UncountedTerminatedPods.Failed); got != test.failed || len(plan.Untrack) != test.untracked {
					t.Errorf("%d UIDs of failed pods, %d finalizers, want %d and %d", got, len(plan.Untrack), test.failed, test.untracked)
				}
				if last := plan.Untrack[len(plan.Untrack)-1].Name; last != fmt.Sprintf("pod-%04d", (test.untracked-1)*7%600) && test.untracked < 600 {
					t.Errorf("the last finalizer is %s's, whose index is not %d", last, test.untracked-1)
				}
			})
		}
	}
}

// TestJ35_CappedRoundKeepsSuccesses: a pod that was recorded as failed while it was
// terminating, and has succeeded after all, completes its index, also in a round that
// has no room for all pods.
func TestJ35_CappedRoundKeepsSuccesses(t *testing.T) {
	for name, options := range bothOptions {
		pods := []Pod{ofIndex(endedPod("recorded", PodSucceeded), 800), ofIndex(endedPod("in flight", PodSucceeded), 801)}
		for i := range 600 {
			pods = append(pods, ofIndex(endedPod(fmt.Sprint(i), PodSucceeded), int32(i)))
		}
		s := snapshotOf(t, `{"completions": 1000, "parallelism": 0, "completionMode": "Indexed"}`, pods...)
		s.Options = options
		s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{Failed: []string{"recorded"}}
		s.Memory = Memory{JobUID: s.Job.UID, Untracking: expectations.NewUIDs("in flight")}
		plan := planOf(t, s)
		if got := plan.Record(doneAll(plan).Writes).Status.CompletedIndexes; !plan.basis.Capped || got != "0-599,800,801" {
			t.Errorf("%s: capped %v, completed %q", name, plan.basis.Capped, got)
		}
	}
}

// TestJ35_WhenUIDsAreCounted: a recorded UID moves into the counter once its pod has
// lost the finalizer, be it that only the memory says so, and never before (JI1, JI3).
func TestJ35_WhenUIDsAreCounted(t *testing.T) {
	bare := endedPod("a", PodSucceeded)
	bare.Untracked = true
	tests := []struct {
		name               string
		pods               []Pod
		recorded, inFlight bool
		first, last        int32 // succeeded, in the first and the last status
		untracked          int
	}{
		{"recorded, with the finalizer", []Pod{endedPod("a", PodSucceeded)}, true, false, 0, 1, 1},
		{"recorded, without the finalizer", []Pod{bare}, true, false, 1, 1, 0},
		{"recorded, and gone", nil, true, false, 1, 1, 0},
		{"recorded, the removal is in flight", []Pod{endedPod("a", PodSucceeded)}, true, true, 1, 1, 0},
		{"new", []Pod{endedPod("a", PodSucceeded)}, false, false, 0, 1, 1},
		{"not recorded any more, the removal is in flight", []Pod{endedPod("a", PodSucceeded)}, false, true, 0, 0, 0},
		{"without the finalizer", []Pod{bare}, false, false, 0, 0, 0},
	}
	for name, options := range bothOptions {
		for _, test := range tests {
			t.Run(name+"/"+test.name, func(t *testing.T) {
				s := snapshotOf(t, `{"completions": 9, "parallelism": 0}`, test.pods...)
				s.Options = options
				s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{}
				if test.recorded {
					s.Job.Status.UncountedTerminatedPods.Succeeded = []string{"a"}
				}
				if test.inFlight {
					s.Memory = Memory{JobUID: s.Job.UID, Untracking: expectations.NewUIDs("a")}
				}
				plan := planOf(t, s)
				first, last := plan.Record(doneAll(plan).Writes).Status, settled(plan, doneAll(plan)).Status
				if first.Succeeded != test.first || last.Succeeded != test.last || len(plan.Untrack) != test.untracked {
					t.Errorf("succeeded %d, then %d, %d finalizers; want %d, %d, %d", first.Succeeded, last.Succeeded, len(plan.Untrack),
						test.first, test.last, test.untracked)
				}
			})
		}
	}
}

// TestJ36_MayUntrack: pods that no round is going to count lose their finalizer.
func TestJ36_MayUntrack(t *testing.T) {
	running := snapshotOf(t, `{}`).Job
	ended, foreign := running, running
	ended.Status.Conditions = []Condition{{Type: Failed, Status: ConditionTrue}}
	foreign.Spec.ManagedBy, foreign.Status = pointTo("example.com/other"), ended.Status
	for _, test := range []struct {
		name  string
		owner *Job
		pod   Pod
		me    string // the name of this controller
		want  bool
	}{
		{"the job is gone", nil, Pod{}, "", true},
		{"the job is gone, and so is the finalizer", nil, Pod{Untracked: true}, "", false},
		{"the job goes on", &running, Pod{}, "", false},
		{"the job has ended", &ended, Pod{}, "", true},
		{"the pod no longer matches the selector", &ended, Pod{Owner: OwnedUnmatched}, "", true},
		{"another job has the pod", &ended, Pod{Owner: Foreign}, "", false},
		{"the pod has no controller", &ended, Pod{Owner: Orphan}, "", false},
		{"the finalizer has gone already", &ended, Pod{Untracked: true}, "", false},
		{"another controller manages the job", &foreign, Pod{}, "", false},
		{"this controller manages the job", &foreign, Pod{}, "example.com/other", true},
	} {
		if got := MayUntrack(test.owner, &test.pod, Options{ControllerName: test.me}); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// TestJ37_TerminatingPodsAtTheEnd: a pod that is being deleted and counts as nothing
// yet is given up when the job ends, however it ends, and kept as long as it goes on.
func TestJ37_TerminatingPodsAtTheEnd(t *testing.T) {
	tests := []struct {
		name    string
		spec    string
		deleted bool
		beside  []Pod
		want    string // "" when the pod keeps its finalizer
	}{
		{"the job goes on", `{"podReplacementPolicy": "Failed"}`, false, nil, ""},
		{"it ends in failure", `{"podReplacementPolicy": "Failed", "activeDeadlineSeconds": 1}`, false, nil, CountedFailed.String()},
		{"it is being deleted", `{"podReplacementPolicy": "Failed"}`, true, nil, NotCounted.String()},
		{"it has its completions", `{"podReplacementPolicy": "Failed"}`, false, []Pod{endedPod("s", PodSucceeded)}, NotCounted.String()},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			leaving := activePod("leaving")
			leaving.Deletion = &PodDeletion{Timestamp: second(20)}
			s := snapshotOf(t, test.spec, append(test.beside, leaving)...)
			if test.deleted {
				s.Job.DeletionTimestamp = second(25)
			}
			got := ""
			plan := planOf(t, s)
			for _, u := range plan.Untrack {
				if u.Name == "leaving" {
					got = u.As.String()
				}
			}
			if got != test.want {
				t.Errorf("counted as %q, want %q\n%s", got, test.want, plan)
			}
		})
	}
}

// TestJ38_UncountedUIDsKeepTheJobOpen: in either list, or as many in both.
func TestJ38_UncountedUIDsKeepTheJobOpen(t *testing.T) {
	for name, c := range map[string]struct {
		lists *UncountedTerminatedPods
		want  bool
	}{
		"no lists":    {nil, true},
		"empty lists": {&UncountedTerminatedPods{}, true},
		"a success":   {&UncountedTerminatedPods{Succeeded: []string{"a"}}, false},
		"a failure":   {&UncountedTerminatedPods{Failed: []string{"a"}}, false},
		"one of each": {&UncountedTerminatedPods{Succeeded: []string{"a"}, Failed: []string{"b"}}, false},
	} {
		if got := (&Plan{}).mayFinish(&Status{UncountedTerminatedPods: c.lists}); got != c.want {
			t.Errorf("%s: may finish %v, want %v", name, got, c.want)
		}
	}
}

// TestJ35_RoomWithoutTheEnd: a job is over its deadline with 450 active pods of the
// lowest indexes and 300 that have succeeded. If the round declares the end, it gives up the active
// pods and has room for 50 of the others. If it does not, all that have succeeded have
// room.
func TestJ35_RoomWithoutTheEnd(t *testing.T) {
	var pods []Pod
	for i := range 750 {
		pod := activePod(fmt.Sprintf("pod-%04d", i))
		if i >= 450 {
			pod = endedPod(fmt.Sprintf("pod-%04d", i), PodSucceeded)
		}
		pods = append(pods, ofIndex(pod, int32(i)))
	}
	s := snapshotOf(t, `{"completions": 750, "parallelism": 750, "completionMode": "Indexed", "activeDeadlineSeconds": 1}`, pods...)
	for name, options := range bothOptions {
		s.Options = options
		plan := planOf(t, s)
		for _, test := range []struct {
			name            string
			deleted         Result
			succeeded, left int
		}{
			{"the end is declared", Done, 50, 0},
			{"a deletion has failed", Unsuccessful, 300, 450},
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
