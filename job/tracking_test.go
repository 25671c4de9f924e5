package job

import (
	"testing"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

// TestJ36_MayUntrack: pods that no round is going to count lose their finalizer.
func TestJ36_MayUntrack(t *testing.T) {
	running := snapshotOf(t, `{}`).Job
	ended, foreign := running, running
	ended.Status.Conditions = []Condition{{Type: ConditionFailed, Status: ConditionTrue}}
	foreign.Spec.ManagedBy, foreign.Status = value.To("example.com/other"), ended.Status

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
		{"the pod no longer matches the selector", &ended, Pod{Owner: jobpod.OwnedUnmatched}, "", true},
		{"another job has the pod", &ended, Pod{Owner: jobpod.Foreign}, "", false},
		{"the pod has no controller", &ended, Pod{Owner: jobpod.Orphan}, "", false},
		{"the finalizer has gone already", &ended, Pod{Untracked: true}, "", false},
		{"another controller manages the job", &foreign, Pod{}, "", false},
		{"this controller manages the job", &foreign, Pod{}, "example.com/other", true},
	} {
		if got := MayUntrack(test.owner, &test.pod, Options{ControllerName: test.me}); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// TestJ36_UntrackedOnce: a finalizer whose removal is not seen yet is not removed again at the end.
func TestJ36_UntrackedOnce(t *testing.T) {
	s := snapshotOf(t, `{}`, activePod("a"), activePod("b"))
	s.Job.Status.Conditions = []Condition{{Type: ConditionFailed, Status: ConditionTrue}}
	s.Memory = Memory{JobUID: s.Job.UID, Untracking: expectations.NewUIDs("a")}
	if plan := PlanOf(t, s); len(plan.Untrack) != 1 || plan.Untrack[0].UID != "b" {
		t.Error(plan.String())
	}
}

// TestJ37_TerminatingPodsAtTheEnd: a pod that is being deleted and not counted yet is given up when
// the job ends in any way, and kept as long as the job continues.
func TestJ37_TerminatingPodsAtTheEnd(t *testing.T) {
	for _, test := range []struct {
		name    string
		spec    string
		deleted bool
		beside  []Pod
		want    string // "" when the pod keeps its finalizer
	}{
		{"the job goes on", `{"podReplacementPolicy": "Failed"}`, false, nil, ""},
		{"it ends in failure", `{"podReplacementPolicy": "Failed", "activeDeadlineSeconds": 1}`, false, nil, jobreason.CountedFailed.String()},
		{"it is being deleted", `{"podReplacementPolicy": "Failed"}`, true, nil, jobreason.NotCounted.String()},
		{"it has its completions", `{"podReplacementPolicy": "Failed"}`, false, []Pod{endedPod("s", PodSucceeded)}, jobreason.NotCounted.String()},
	} {
		leaving := activePod("leaving")
		leaving.Deletion = &PodDeletion{Timestamp: second(20)}
		s := snapshotOf(t, test.spec, append(test.beside, leaving)...)
		if test.deleted {
			s.Job.DeletionTimestamp = second(25)
		}

		got := ""
		plan := PlanOf(t, s)
		for _, u := range plan.Untrack {
			if u.Name == "leaving" {
				got = u.As.String()
			}
		}
		if got != test.want {
			t.Errorf("%s: counted as %q, want %q\n%s", test.name, got, test.want, plan)
		}
	}
}

// TestJ38_UncountedUIDsKeepTheJobOpen: a UID in either list delays the end.
func TestJ38_UncountedUIDsKeepTheJobOpen(t *testing.T) {
	for name, c := range map[string]struct {
		lists *UncountedTerminatedPods
		want  bool
	}{
		"no lists":    {nil, true},
		"empty lists": {&UncountedTerminatedPods{}, true},
		"a success":   {&UncountedTerminatedPods{Succeeded: []UID{"a"}}, false},
		"a failure":   {&UncountedTerminatedPods{Failed: []UID{"a"}}, false},
		"one of each": {&UncountedTerminatedPods{Succeeded: []UID{"a"}, Failed: []UID{"b"}}, false},
	} {
		if got := mayFinish(&basis{}, &Status{UncountedTerminatedPods: c.lists}, 0, Verdict{}); got != c.want {
			t.Errorf("%s: may finish %v, want %v", name, got, c.want)
		}
	}
}
