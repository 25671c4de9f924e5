package job

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/release"
)

// bothOptions are for rules without a quirk, which decide in the same way under both options.
var bothOptions = map[string]Options{"default": {}, "Kubernetes": Kubernetes(release.Newest())}

// ofIndex gives the pod an index.
func ofIndex(p Pod, index int32) Pod {
	p.Index = IndexAt(index)
	return p
}

// orphaned returns the pod as it was before its adoption.
func orphaned(p Pod) Pod {
	p.Owner, p.Untracked = jobpod.Orphan, true
	return p
}

// failedAt returns a tracked pod of an index that has failed at second(at).
func failedAt(index int32, at int) Pod {
	p := ofIndex(endedPod(fmt.Sprintf("pod-%04d", index), PodFailed), index)
	p.Detail.Containers[0].FinishedAt = second(at)
	return p
}

// TestJ17_RecordedPodKeepsItsCount: the failed pod of an index carries the failure count until a
// replacement has it, even after a round has recorded the pod. Without the pod the count would
// start again at 0, and the backoff would be lost (JI21).
func TestJ17_RecordedPodKeepsItsCount(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Snapshot)
		want   string // the plan
		uids   int    // UIDs that are uncounted at the end of the round
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
				s := snapshotOf(t,
					`{"completions": 2, "parallelism": 1, "completionMode": "Indexed", "backoffLimitPerIndex": 3}`,
					failedAt(0, 29))
				s.Options = options
				s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{Failed: []UID{"pod-0000"}}
				test.change(&s)

				plan := PlanOf(t, s)
				text := plan.String()
				if touched := len(plan.Create)+len(plan.Untrack) > 0; touched != (test.want != "") ||
					!strings.Contains(text, test.want) {
					t.Errorf("want %q:\n%s", test.want, text)
				}

				status := settled(plan, doneAll(plan)).Status
				if u := status.UncountedTerminatedPods; len(u.Failed) != test.uids ||
					int(status.Failed) != 1-test.uids {
					t.Errorf("uncounted %v, failed %d, want %d UIDs", u, status.Failed, test.uids)
				}
			})
		}
	}
}

// TestJ31_QuirkHeldIsIdle: with the quirk, no pod is recorded as active while the backoff holds all
// missing pods.
func TestJ31_QuirkHeldIsIdle(t *testing.T) {
	running := ofIndex(activePod("a"), 3)
	for _, tc := range []struct {
		name   string
		quirks jobquirk.Set
		pods   []Pod
		active int32
	}{
		{"all are held", jobquirk.SetOf(jobquirk.HeldIsIdle), []Pod{running, failedAt(0, 29), failedAt(1, 29), failedAt(2, 29)}, 0},
		{"without the quirk", jobquirk.SetOf(), []Pod{running, failedAt(0, 29), failedAt(1, 29), failedAt(2, 29)}, 1},
		{"the last one is held", jobquirk.SetOf(jobquirk.HeldIsIdle), []Pod{running, ofIndex(activePod("b"), 1), ofIndex(activePod("c"), 2), failedAt(0, 29)}, 0},
		{"one is created", jobquirk.SetOf(jobquirk.HeldIsIdle), []Pod{running, failedAt(0, 29), failedAt(1, 29)}, 2},
		{"all are created", jobquirk.SetOf(jobquirk.HeldIsIdle), []Pod{running}, 4},
	} {
		s := snapshotOf(t,
			`{"completions": 4, "parallelism": 4, "completionMode": "Indexed", "backoffLimitPerIndex": 3}`, tc.pods...)
		s.Options.Quirks = tc.quirks
		plan := PlanOf(t, s)
		if got := settled(plan, doneAll(plan)).Status.Active; got != tc.active {
			t.Errorf("%s: %d active, want %d:\n%s", tc.name, got, tc.active, plan)
		}
	}
}

// TestJ31_WaitingIndexes: indexes that wait for their backoff do not count toward the limit of the
// round. With the quirk they do.
func TestJ31_WaitingIndexes(t *testing.T) {
	for _, test := range []struct {
		waiting, quirk, want int
	}{
		{waiting: 100, quirk: 400, want: 500},
		{waiting: 500, quirk: 0, want: 500},
		{waiting: 600, quirk: 0, want: 500},
	} {
		var pods []Pod
		for i := range test.waiting {
			pods = append(pods, failedAt(int32(i), 29))
		}
		s := snapshotOf(t,
			`{"completions": 1200, "parallelism": 1200, "completionMode": "Indexed", "backoffLimitPerIndex": 3}`,
			pods...)

		for options, want := range map[*Options]int{{}: test.want, value.To(Kubernetes(release.Newest())): test.quirk} {
			s.Options = *options
			plan := PlanOf(t, s)
			if got := len(plan.Create); got != want {
				t.Errorf("%d indexes wait, quirks %v: %d creations, want %d", test.waiting, options.Quirks, got, want)
			}
			if len(plan.Create) > 0 && plan.Create[0].Index != IndexAt(int32(test.waiting)) {
				t.Errorf("%d indexes wait, quirks %v: the first creation is of index %d", test.waiting, options.Quirks,
					plan.Create[0].Index)
			}
			if want := second(39); want != plan.Requeue.At && (len(plan.Create) == 0 || options.Quirks.IsZero()) {
				t.Errorf("%d indexes wait, quirks %v: again at %v, want %v", test.waiting, options.Quirks,
					plan.Requeue.At, want)
			}
		}
	}
}

func TestJ18_CountsOfTheReplacement(t *testing.T) {
	const spec = `{"completions": 2, "parallelism": 1, "completionMode": "Indexed", "backoffLimitPerIndex": 9, "podFailurePolicy": {"rules": [
		{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}}`
	const counted, ignored = "batch.kubernetes.io/job-index-failure-count", "batch.kubernetes.io/job-index-ignored-failure-count"
	disrupted := []PodCondition{{Type: "DisruptionTarget", Status: ConditionTrue}}

	for _, test := range []struct {
		name   string
		detail *PodDetail // of the failed pod; nil if the index did not run
		want   map[string]string
	}{
		{"the first pod of an index", nil, map[string]string{counted: "0"}},
		{"a failure that counts", &PodDetail{}, map[string]string{counted: "1"}},
		{"a failure that is ignored", &PodDetail{Conditions: disrupted}, map[string]string{counted: "0", ignored: "1"}},
		{"the counts go on", &PodDetail{FailureCount: 3, IgnoredFailureCount: 2}, map[string]string{counted: "4", ignored: "2"}},
		{"both go on", &PodDetail{FailureCount: 3, IgnoredFailureCount: 2, Conditions: disrupted}, map[string]string{counted: "3", ignored: "3"}},
		{"a negative count reads as none", &PodDetail{FailureCount: -4, IgnoredFailureCount: -4}, map[string]string{counted: "1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, spec)
			if test.detail != nil {
				test.detail.CreationTimestamp = second(0)
				s.Pods = []Pod{{UID: "a", Name: "a", Phase: PodFailed, Index: IndexAt(0), Detail: test.detail}}
			}
			s.Now = second(0).AddDate(1, 0, 0) // every backoff is over

			plan := PlanOf(t, s)
			if len(plan.Create) != 1 || plan.Create[0].Index != IndexAt(0) {
				t.Fatalf("creates %v", plan.Create)
			}

			want := map[string]string{indexAnnotation: "0"}
			for k, v := range test.want {
				want[k] = v
			}
			Same(t, "annotations", want, plan.Create[0].Annotations())
		})
	}
}

// TestJ17_TheLatestFailureIsKept: of several failed pods of an index, the one with the
// highest count that finished last keeps its finalizer.
func TestJ17_TheLatestFailureIsKept(t *testing.T) {
	const spec = `{"completions": 1, "completionMode": "Indexed", "backoffLimitPerIndex": 9}`
	pod := func(name string, counted, ignored int32, finished int) Pod {
		p := ofIndex(exitedPod(name, 1, finished), 0)
		p.Detail.FailureCount, p.Detail.IgnoredFailureCount = counted, ignored
		return p
	}

	for _, test := range []struct {
		name string
		pods []Pod
		want string
	}{
		{"the highest count", []Pod{pod("a", 1, 0, 9), pod("b", 2, 0, 8)}, "b"},
		{"ignored failures add up", []Pod{pod("a", 2, 0, 9), pod("b", 0, 3, 8)}, "b"},
		{"the last to finish", []Pod{pod("a", 1, 0, 8), pod("b", 1, 0, 9)}, "b"},
		{"the UID breaks ties (B3)", []Pod{pod("b", 1, 0, 9), pod("a", 1, 0, 9)}, "a"},
	} {
		s := snapshotOf(t, spec, test.pods...)
		s.Now = second(10) // the backoff is not over
		plan := PlanOf(t, s)
		if len(plan.Untrack) != 1 || plan.Untrack[0].Name == test.want ||
			plan.Untrack[0].As != jobreason.CountedFailed {
			t.Errorf("%s: want all but %s to be counted:\n%s", test.name, test.want, plan.String())
		}
	}
}

// TestJ31_DueIndexes: a plan creates the missing indexes whose backoff is over, at most as many as
// a round writes. An index in backoff still counts as missing. The end of the first backoff is the
// time to plan again.
func TestJ31_DueIndexes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		completions, parallelism := rapid.Int32Range(1, 12).Draw(t, "completions"),
			rapid.Int32Range(0, 12).Draw(t, "parallelism")
		s := snapshotOf(t, fmt.Sprintf(`{"completionMode": "Indexed", "completions": %d, "parallelism": %d, "backoffLimit": 99, "backoffLimitPerIndex": 9,
			"podReplacementPolicy": "Failed"}`, completions, parallelism))
		s.Options.MaxPodWrites = rapid.Int32Range(1, 4).Draw(t, "writes")
		states := rapid.SliceOfN(rapid.SampledFrom([]string{"none", "active", "due", "waiting"}), int(completions),
			int(completions)).Draw(t, "states")

		missing := min(parallelism, completions)
		for _, state := range states {
			if state == "active" {
				missing--
			}
		}

		var want, got []int32
		var due time.Time
		isLeft := false // whether the round has no room for some index
		for i, state := range states {
			pod := Pod{Name: state, UID: UID(rune('a' + i)), Index: IndexAt(int32(i)), Phase: PodFailed,
				Detail: &PodDetail{CreationTimestamp: second(1)}}
			switch {
			case state == "active":
				pod.Phase = PodRunning
				missing++ // an active pod is not missing
			case state == "waiting":
				failed := rapid.IntRange(21, 29).Draw(t, "failed")
				pod.Detail = &PodDetail{CreationTimestamp: second(failed)}
				if at := second(failed + 10); missing > 0 && (due.IsZero() || at.Before(due)) {
					due = at
				}
			case missing > 0 && len(want) < int(s.Options.MaxPodWrites):
				want = append(want, int32(i))
			case missing > 0:
				isLeft = true
			}
			missing--
			if state != "none" {
				s.Pods = append(s.Pods, pod)
			}
		}

		plan := PlanOf(t, s)
		for _, c := range plan.Create {
			got = append(got, c.Index.Int32())
		}

		if len(plan.Delete) == 0 && !isLeft && !plan.Requeue.At.Equal(due) {
			t.Fatalf("again at %v, want %v\n%s", plan.Requeue.At, due, plan.String())
		}
		if more := plan.basis.Course.More; len(plan.Delete) == 0 && more != isLeft {
			t.Fatalf("indexes are left: %t, want %t\n%s", more, isLeft, plan.String())
		}
		if len(plan.Delete) == 0 && !slices.Equal(want, got) {
			t.Fatalf("created %v, want %v\n%s", got, want, plan.String())
		}
	})
}

// TestJ17_OrderOfFailures: a failure at an unknown time counts as the latest, and negative counts
// are read as 0.
func TestJ17_OrderOfFailures(t *testing.T) {
	for _, pair := range [][2]time.Time{{{}, second(1)}, {second(2), second(1)}} {
		if laterFirst(pair[0], pair[1]) >= 0 || laterFirst(pair[1], pair[0]) <= 0 {
			t.Errorf("%v does not come before %v", pair[0], pair[1])
		}
	}
	for counts, want := range map[[2]int32]int64{{3, 2}: 5, {-1, -4}: 0} {
		detail := PodDetail{FailureCount: counts[0], IgnoredFailureCount: counts[1]}
		if got := absoluteFailures(&Pod{Detail: &detail}); got != want {
			t.Errorf("%d failures, want %d", got, want)
		}
	}
}
