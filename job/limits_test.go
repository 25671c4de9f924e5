package job

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/release"
)

// TestOptions_MaxPodWrites: the option replaces the limit of 500.
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
		test.snap.Options.MaxPodWrites = test.limit
		plan := PlanOf(t, test.snap)
		if len(plan.Create) != test.creates || len(plan.Delete) != test.deletes {
			t.Errorf("%s: %d creations, %d deletions, want %d, %d", test.name, len(plan.Create), len(plan.Delete),
				test.creates, test.deletes)
		}

		limited := test.creates+test.deletes == int(test.limit)
		if again := plan.Conclude(doneAll(plan)).Requeue.Reason == jobreason.WaitNext; again !=
			(limited || test.deletes > 0) {
			t.Errorf("%s: the next round comes immediately: %v", test.name, again)
		}
	}
}

// TestOptions_MaxUncounted: the option replaces the limit of 500.
func TestOptions_MaxUncounted(t *testing.T) {
	var ended []Pod
	for i := range 5 {
		ended = append(ended, endedPod(fmt.Sprint("s", i), PodSucceeded))
	}
	for limit, want := range map[int32]int{0: 5, 1: 1, 3: 3, 5: 5, 9: 5} {
		s := snapshotOf(t, `{"completions": 5}`, ended...)
		s.Options.MaxUncounted = limit
		plan := PlanOf(t, s)
		c := plan.Conclude(doneAll(plan))
		if len(plan.Untrack) != want || c.Status.Succeeded != int32(want) ||
			(c.Status.Finished() != "") != (want == 5) {
			t.Errorf("limit %d: %d finalizers, want %d, %s", limit, len(plan.Untrack), want, c.Status)
		}
	}
}

// TestJ3_ControllerName: a controller plans the jobs that name it. The controller of Kubernetes
// also plans jobs that name no controller.
func TestJ3_ControllerName(t *testing.T) {
	for _, test := range []struct {
		by, me string
		off    release.Gates
		ours   bool
	}{
		{by: "", me: "", ours: true},
		{by: "", me: ControllerName, ours: true},
		{by: ControllerName, me: "", ours: true},
		{by: "example.com/a", me: ""},
		{by: "example.com/a", me: "example.com/a", ours: true},
		{by: "example.com/a", me: "example.com/b"},
		{by: ControllerName, me: "example.com/a"},
		{by: "", me: "example.com/a"},
		// Without the gate, the field is ignored.
		{by: "example.com/a", me: "", off: release.GatesOf(release.JobManagedBy), ours: true},
		{by: "example.com/a", me: ControllerName, off: release.GatesOf(release.JobManagedBy), ours: true},
		{by: "example.com/a", me: "example.com/a", off: release.GatesOf(release.JobManagedBy)},
		{by: "example.com/a", me: "", off: release.GatesOf(release.JobSuccessPolicy)},
	} {
		s := snapshotOf(t, `{}`)
		s.Options.ControllerName, s.Options.Without = test.me, test.off
		if test.by != "" {
			s.Job.Spec.ManagedBy = &test.by
		}
		plan := PlanOf(t, s)
		c := plan.Conclude(doneAll(plan))
		if (c.Metrics.Action != "") != test.ours || c.Metrics.External == test.ours || (len(plan.Create) > 0) != test.ours {
			t.Errorf("managed by %q, controller %q: %+v", test.by, test.me, c)
		}
	}
}

// TestOptions_NoSuccessCriteriaMet: after a success without successPolicy, the job ends with the
// condition Complete alone. A failure is always announced by FailureTarget, so that it is
// remembered when the pod that caused it is gone.
func TestOptions_NoSuccessCriteriaMet(t *testing.T) {
	won, leaving := ofIndex(endedPod("s", PodSucceeded), 0), activePod("l")
	leaving.Deletion = &PodDeletion{Timestamp: second(60)}
	const policy = `{"podReplacementPolicy": "Failed", "podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]}}`

	for _, test := range []struct {
		name, spec string
		pods       []Pod
		want       []string // conditions
	}{
		{"success", `{"completions": 1}`, []Pod{won}, []string{"Complete"}},
		{"success while a pod terminates", `{"completions": 1, "podReplacementPolicy": "Failed"}`, []Pod{won, leaving}, []string{"Complete"}},
		{"success while a surplus pod is deleted", `{"completions": 1, "parallelism": 2}`, []Pod{won, activePod("a")}, []string{"Complete"}},
		{"success by a policy", `{"completions": 2, "completionMode": "Indexed", "successPolicy": {"rules": [{"succeededCount": 1}]}}`,
			[]Pod{won}, []string{"SuccessCriteriaMet", "Complete"}},
		{"failure", `{"backoffLimit": 0}`, []Pod{endedPod("f", PodFailed)}, []string{"FailureTarget", "Failed"}},
		{"failure by a policy", policy, []Pod{endedPod("f", PodFailed)}, []string{"FailureTarget", "Failed"}},
		{"failure by a policy while a pod terminates", policy, []Pod{endedPod("f", PodFailed), leaving}, []string{"FailureTarget"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, test.spec, test.pods...)
			s.Options.NoSuccessCriteriaMet = true
			plan := PlanOf(t, s)
			recording := plan.Record(doneAll(plan).Writes)
			status := plan.Conclude(doneAll(plan)).Status

			var got []string
			for _, c := range status.Conditions {
				got = append(got, string(c.Type))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("conditions %q, want %q", got, test.want)
			}
			if err := CheckTransition(recording.Status, status, s.Job.Spec, release.Newest()); err != nil &&
				!strings.Contains(err.Error(), "needs SuccessCriteriaMet") {
				t.Error(err)
			}

			if status.Finished() == "" {
				s.Job.Status, s.Pods = status, nil
				last := PlanOf(t, s)
				if got := last.Conclude(doneAll(last)).Status; got.Finished() != ConditionFailed ||
					got.Condition(ConditionFailed).Reason != "PodFailurePolicy" {
					t.Errorf("without its pods the job is %s", got)
				}
			}
		})
	}
}

// TestJ41_PodWrites: events about pods are marked, the others are not.
func TestJ41_PodWrites(t *testing.T) {
	s := snapshotOf(t, `{"completions": 2, "parallelism": 3}`, endedPod("s", PodSucceeded))
	s.Job.Status.Conditions = []Condition{{Type: ConditionSuspended, Status: ConditionTrue}}
	plan := PlanOf(t, s)
	o := doneAll(plan)
	marked := map[string]bool{}
	for _, e := range plan.Conclude(o).Events {
		marked[e.Reason] = e.PodWrite
	}
	over := PlanOf(t, snapshotOf(t, `{"parallelism": 0}`, activePod("a"), activePod("b")))
	o = doneAll(over)
	o.Deleted[1].Result = jobreason.ResultUnsuccessful
	for _, e := range over.Conclude(o).Events {
		marked[e.Reason] = e.PodWrite
	}
	want := map[string]bool{"SuccessfulCreate": true, "Resumed": false, "SuccessfulDelete": true, "FailedDelete": true}
	if fmt.Sprint(marked) != fmt.Sprint(want) {
		t.Errorf("marked %v, want %v", marked, want)
	}
}
