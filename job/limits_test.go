package job

import (
	"fmt"
	"strings"
	"testing"
)

// TestOptions_MaxPodWrites: the option takes the place of the limit of 500.
func TestOptions_MaxPodWrites(t *testing.T) {
	const busy = `{"completions": 9, "parallelism": 9}`
	const none = `{"parallelism": 0}`
	indexed := `{"completionMode": "Indexed", "completions": 9, "parallelism": 9, "backoffLimitPerIndex": 1}`
	var active []Pod
	for i := range 7 {
		active = append(active, activePod(fmt.Sprint("a", i)))
	}
	for _, test := range []struct {
		name             string
		snap             Snapshot
		limit            int32
		creates, deletes int
	}{
		{"creations", snapshotOf(t, busy), 4, 4, 0},
		{"creations of an Indexed job", snapshotOf(t, indexed), 4, 4, 0},
		{"few creations", snapshotOf(t, busy), 100, 9, 0},
		{"surplus pods", snapshotOf(t, none, active...), 3, 0, 3},
		{"no limit is 500", snapshotOf(t, none, active...), 0, 0, 7},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.snap.Options.MaxPodWrites = test.limit
			plan := planOf(t, test.snap)
			if len(plan.Create) != test.creates || len(plan.Delete) != test.deletes {
				t.Errorf("%d creations, %d deletions, want %d, %d", len(plan.Create), len(plan.Delete), test.creates, test.deletes)
			}
			limited := test.creates+test.deletes == int(test.limit)
			if again := plan.Conclude(doneAll(plan)).Requeue.Reason == WaitNext; again != (limited || test.deletes > 0) {
				t.Errorf("the next round comes at once: %v", again)
			}
		})
	}
}

// TestOptions_MaxUncounted: the option takes the place of the limit of 500.
func TestOptions_MaxUncounted(t *testing.T) {
	var ended []Pod
	for i := range 5 {
		ended = append(ended, endedPod(fmt.Sprint("s", i), PodSucceeded))
	}
	for limit, want := range map[int32]int{0: 5, 1: 1, 3: 3, 5: 5, 9: 5} {
		s := snapshotOf(t, `{"completions": 5}`, ended...)
		s.Options.MaxUncounted = limit
		plan := planOf(t, s)
		c := plan.Conclude(doneAll(plan))
		if len(plan.Untrack) != want || c.Status.Succeeded != int32(want) || (c.Status.Finished() != "") != (want == 5) {
			t.Errorf("limit %d: %d finalizers, want %d, %s", limit, len(plan.Untrack), want, c.Status)
		}
	}
}

func TestOptions_NegativeLimits(t *testing.T) {
	for field, o := range map[string]Options{
		"options.maxPodWrites": {MaxPodWrites: -1}, "options.maxUncounted": {MaxUncounted: -1},
	} {
		s := snapshotOf(t, `{}`)
		s.Options = o
		if _, err := Reconcile(s); err == nil || !strings.HasPrefix(err.Error(), field+": -1: ") {
			t.Errorf("%s: error %v", field, err)
		}
	}
}

// TestJ3_ControllerName: a controller plans the jobs that name it. The controller of
// Kubernetes also plans the jobs that name none.
func TestJ3_ControllerName(t *testing.T) {
	for _, test := range []struct {
		by, me string
		ours   bool
	}{
		{"", "", true},
		{"", ControllerName, true},
		{ControllerName, "", true},
		{"example.com/a", "", false},
		{"example.com/a", "example.com/a", true},
		{"example.com/a", "example.com/b", false},
		{ControllerName, "example.com/a", false},
		{"", "example.com/a", false},
	} {
		s := snapshotOf(t, `{}`)
		if s.Options.ControllerName = test.me; test.by != "" {
			s.Job.Spec.ManagedBy = &test.by
		}
		plan := planOf(t, s)
		c := plan.Conclude(doneAll(plan))
		if c.Synced != test.ours || c.Metrics.ManagedBy == test.ours || (len(plan.Create) > 0) != test.ours {
			t.Errorf("managed by %q, controller %q: %+v", test.by, test.me, c)
		}
	}
}

// TestOptions_NoInterimConditions: the job ends with the condition of the end alone, in the
// same round as otherwise. While a pod is terminating, each round decides again.
func TestOptions_NoInterimConditions(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		pods       []Pod
		want       ConditionType
		reason     string
	}{
		{"success", `{"completions": 1}`, []Pod{endedPod("s", PodSucceeded)}, ConditionComplete, "CompletionsReached"},
		{"failure", `{"backoffLimit": 0}`, []Pod{endedPod("f", PodFailed)}, ConditionFailed, "BackoffLimitExceeded"},
		{"a policy", `{"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]}}`,
			[]Pod{endedPod("f", PodFailed)}, ConditionFailed, "PodFailurePolicy"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, test.spec, test.pods...)
			s.Options.NoInterimConditions = true
			plan := planOf(t, s)
			status := plan.Conclude(doneAll(plan)).Status
			if len(status.Conditions) != 1 || status.Conditions[0].Type != test.want || status.Conditions[0].Reason != test.reason {
				t.Errorf("conditions %+v", status.Conditions)
			}
			recording := plan.Record(doneAll(plan).Writes)
			if len(recording.Status.Conditions) > 0 {
				t.Errorf("recorded %+v", recording.Status.Conditions)
			}
		})
	}

	won := endedPod("s", PodSucceeded)
	won.Index = IndexAt(0)
	s := snapshotOf(t, `{"completions": 2, "completionMode": "Indexed", "successPolicy": {"rules": [{"succeededCount": 1}]}}`, won)
	s.Options.NoInterimConditions = true
	plan := planOf(t, s)
	if got := plan.Conclude(doneAll(plan)).Status.Conditions; len(got) != 2 || got[0].Type != ConditionSuccessCriteriaMet {
		t.Errorf("a job with a successPolicy has the conditions %+v", got)
	}

	leaving := activePod("l")
	leaving.Deletion = &PodDeletion{Timestamp: second(60)}
	s = snapshotOf(t, `{"activeDeadlineSeconds": 1, "podReplacementPolicy": "Failed"}`, leaving)
	s.Options.NoInterimConditions = true
	plan = planOf(t, s)
	held := doneAll(plan)
	held.Untracked = nil
	c := plan.Conclude(held)
	if plan.Verdict.Reason != "DeadlineExceeded" || len(c.Status.Conditions) > 0 {
		t.Fatalf("%s%s", plan, c.Status)
	}
	s.Job.Status, s.Pods, s.Memory = c.Status, nil, c.Memory
	plan = planOf(t, s)
	if got := plan.Conclude(doneAll(plan)).Status; got.Finished() != ConditionFailed || got.Failed != 1 {
		t.Errorf("%s%s", plan, got)
	}
}

// TestJ41_PodWrites: events about pods are marked, the others are not.
func TestJ41_PodWrites(t *testing.T) {
	s := snapshotOf(t, `{"completions": 2, "parallelism": 3}`, endedPod("s", PodSucceeded))
	s.Job.Status.Conditions = []Condition{{Type: ConditionSuspended, Status: ConditionTrue}}
	plan := planOf(t, s)
	o := doneAll(plan)
	marked := map[string]bool{}
	for _, e := range plan.Conclude(o).Events {
		marked[e.Reason] = e.PodWrite
	}
	over := planOf(t, snapshotOf(t, `{"parallelism": 0}`, activePod("a"), activePod("b")))
	o = doneAll(over)
	o.Deleted[1].Result = ResultUnsuccessful
	for _, e := range over.Conclude(o).Events {
		marked[e.Reason] = e.PodWrite
	}
	want := map[string]bool{"SuccessfulCreate": true, "Resumed": false, "SuccessfulDelete": true, "FailedDelete": true}
	if fmt.Sprint(marked) != fmt.Sprint(want) {
		t.Errorf("marked %v, want %v", marked, want)
	}
}
