package job

import (
	"github.com/batchplan/batchplan/job/jobpod"
	"testing"
)

// TestJ22_Restarts: with restartPolicy OnFailure, the restarts of pods that have not ended need
// only reach the limit, while failed pods must exceed it. With a limit of 0, the first restart
// fails the job.
func TestJ22_Restarts(t *testing.T) {
	pod := func(phase PodPhase, terminating bool, restarts ...int32) Pod {
		p := activePod("a")
		p.Phase, p.Detail = phase, &PodDetail{}
		for _, n := range restarts {
			p.Detail.Containers = append(p.Detail.Containers, jobpod.Container{Restarts: n})
		}
		if terminating {
			p.Deletion = &PodDeletion{Timestamp: second(60)}
		}
		return p
	}

	tests := []struct {
		name  string
		limit string
		pod   Pod
		want  bool
	}{
		{"limit 0, none", "0", pod(PodRunning, false, 0), false},
		{"limit 0, one", "0", pod(PodRunning, false, 1), true},
		{"limit 1, none", "1", pod(PodRunning, false, 0), false},
		{"limit 1, one", "1", pod(PodRunning, false, 1), true},
		{"limit 3, two", "3", pod(PodRunning, false, 2), false},
		{"limit 3, three", "3", pod(PodRunning, false, 3), true},
		{"limit 3, of two containers", "3", pod(PodRunning, false, 1, 2), true},
		{"limit 6, three containers restarted once together", "6", pod(PodRunning, false, 1, 1, 1), false},
		{"limit 6, three containers restarted twice together", "6", pod(PodRunning, false, 2, 2, 2), true},
		{"limit 3, Pending", "3", pod(PodPending, false, 3), true},
		{"limit 3, Pending and terminating", "3", pod(PodPending, true, 3), true},
		{"limit 3, Unknown", "3", pod(PodUnknown, false, 3), false},
		{"limit 3, terminating", "3", pod(PodRunning, true, 3), true},
		{"limit 3, succeeded", "3", pod(PodSucceeded, false, 3), false},
	}

	for name, options := range bothOptions {
		for policy, counts := range map[RestartPolicy]bool{RestartOnFailure: true, RestartNever: false} {
			for _, test := range tests {
				s := snapshotOf(t,
					`{"completions": 5, "podReplacementPolicy": "Failed", "backoffLimit": `+test.limit+`}`, test.pod)
				s.Job.Spec.Template.RestartPolicy = policy
				s.Options = options
				if got := PlanOf(t, s).Verdict.Reason == "BackoffLimitExceeded"; got != (test.want && counts) {
					t.Errorf("%s, %s, %s: past the limit: %v", name, policy, test.name, got)
				}
			}
		}
	}
}

// TestJ22_PastBackoffLimit: failures have to exceed the limit, and restarts have to reach it.
func TestJ22_PastBackoffLimit(t *testing.T) {
	for _, c := range []struct {
		limit            string
		policy           RestartPolicy
		failed, restarts int64
		want             bool
	}{
		{"2", RestartNever, 2, 9, false},
		{"2", RestartNever, 3, 0, true},
		{"2", RestartOnFailure, 2, 1, false},
		{"2", RestartOnFailure, 2, 2, true},
		{"2", RestartOnFailure, 3, 0, true},
		{"0", RestartOnFailure, 0, 0, false},
		{"0", RestartOnFailure, 0, 1, true},
	} {
		spec := specOf(t, `{"backoffLimit": `+c.limit+`}`)
		spec.Template.RestartPolicy = c.policy
		if got := pastBackoffLimit(&spec, tally{failed: c.failed, restarts: c.restarts}).decided(); got != c.want {
			t.Errorf("limit %s, %s, %d failed, %d restarts: %v", c.limit, c.policy, c.failed, c.restarts, got)
		}
	}
}
