package job

import (
	"testing"
	"time"
)

// TestJ7_GivenUp: a terminating pod is no longer waited for when it has had its time to
// start or to end. One that counts as failed anyway is not waited for, and still counts as
// terminating.
func TestJ7_GivenUp(t *testing.T) {
	const failed = `{"backoffLimit": 9, "parallelism": 0, "podReplacementPolicy": "Failed"}`
	for _, c := range []struct {
		name, spec  string
		phase       PodPhase
		options     Options
		terminating int32
	}{
		{"waited for", failed, PodRunning, Options{}, 1},
		{"it has had its time to end", failed, PodRunning, Options{TerminatingTimeout: 10 * time.Second}, 0},
		{"it has not had it", failed, PodRunning, Options{TerminatingTimeout: 11 * time.Second}, 1},
		{"it has had its time to start", failed, PodPending, Options{PendingTimeout: 20 * time.Second}, 0},
		{"it has not had that", failed, PodPending, Options{PendingTimeout: 21 * time.Second}, 1},
		{"it has failed anyway", `{"backoffLimit": 9, "parallelism": 0}`, PodRunning, Options{TerminatingTimeout: 10 * time.Second}, 1},
	} {
		pod := Pod{UID: "a", Name: "a", Index: NoIndex, Phase: c.phase, Deletion: &PodDeletion{Timestamp: second(20)},
			Detail: &PodDetail{CreationTimestamp: second(10)}}
		s := snapshotOf(t, c.spec, pod)
		s.Options = c.options
		if plan := planOf(t, s); plan.basis.Terminating != c.terminating {
			t.Errorf("%s: %d terminating, want %d\n%s", c.name, plan.basis.Terminating, c.terminating, plan)
		}
	}
}
