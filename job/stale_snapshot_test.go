package job

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job/jobreason"
)

// TestE6_OlderThanOwnWrite plans from a snapshot whose job is older than the status
// that the controller has written: the index that succeeded must not run again.
func TestE6_OlderThanOwnWrite(t *testing.T) {
	s := snapshotOf(t, `{"completionMode": "Indexed", "completions": 1}`)
	s.Job.Version = 7
	s.Memory = Memory{JobUID: "job-1", Written: 8, Untracking: expectations.NewUIDs("pod-1")}
	plan := PlanOf(t, s)
	if len(plan.Create) > 0 || len(plan.Waits) != 1 || plan.Waits[0].Reason != jobreason.WaitObserved {
		t.Errorf("an older snapshot is planned from:\n%s", plan.String())
	}
	// If this removal in flight were forgotten, the pod would be counted twice.
	end := plan.Conclude(Outcome{})
	if got := end.Memory; got.Written != 8 || !got.Untracking.Has("pod-1") {
		t.Errorf("the round forgets what it was not about: %+v", got)
	}
	if want := (Requeue{At: s.Now.Add(time.Second), Reason: jobreason.WaitNext}); end.Requeue != want {
		t.Errorf("plan again at %v, want %v", end.Requeue, want)
	}
	s.Job.Version = 8
	if plan := PlanOf(t, s); len(plan.Create) != 1 {
		t.Errorf("the snapshot that shows the write is not planned from:\n%s", plan.String())
	}
}

// TestE1_ClockGoesBack plans with expectations whose time is an hour in the future. Rounds create
// nothing for five minutes, and then continue.
func TestE1_ClockGoesBack(t *testing.T) {
	s := snapshotOf(t, `{}`)
	now := s.Now
	s.Memory = Memory{JobUID: "job-1", Expectations: expectations.Counts{Creations: 1, At: now.Add(time.Hour)}}
	for _, c := range []struct {
		after   time.Duration
		creates int
	}{{0, 0}, {time.Minute, 0}, {5*time.Minute - 1, 0}, {5 * time.Minute, 1}} {
		s.Now = now.Add(c.after)
		plan := PlanOf(t, s)
		if len(plan.Create) != c.creates {
			t.Errorf("after %v: %d creates, want %d\n%s", c.after, len(plan.Create), c.creates, plan.String())
		}
		s.Memory = plan.Conclude(Outcome{}).Memory
	}
}
