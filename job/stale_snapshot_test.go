package job_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job"
)

// TestE6_OlderThanOwnWrite plans from a snapshot whose job is older than the status
// that the controller has written: the index that succeeded must not run again.
func TestE6_OlderThanOwnWrite(t *testing.T) {
	spec := job.Spec{CompletionMode: job.Indexed, Completions: ptr[int32](1), Template: job.Template{RestartPolicy: job.RestartNever}}
	job.Default(&spec)
	s := job.Snapshot{
		Job:    job.Job{Name: "j", UID: "job-1", Version: 7, Spec: spec},
		Now:    time.Unix(1000, 0),
		Memory: job.Memory{JobUID: "job-1", Written: 8, Untracking: expectations.NewUIDs("pod-1")},
	}
	plan := job.PlanOf(t, s)
	if len(plan.Create) > 0 || len(plan.Waits) != 1 || plan.Waits[0].Reason != job.WaitObserved {
		t.Errorf("an older snapshot is planned from:\n%s", plan.String())
	}
	// A removal in flight that is forgotten here is counted a second time later.
	if got := plan.Conclude(job.Outcome{}).Memory; got.Written != 8 || !got.Untracking.Has("pod-1") {
		t.Errorf("the round forgets what it was not about: %+v", got)
	}
	if got, want := plan.Conclude(job.Outcome{}).Requeue, (job.Requeue{At: s.Now.Add(time.Second), Reason: job.WaitNext}); got != want {
		t.Errorf("plan again at %v, want %v", got, want)
	}
	s.Job.Version = 8
	if plan, _ := job.Reconcile(s); len(plan.Create) != 1 {
		t.Errorf("the snapshot that shows the write is not planned from:\n%s", plan.String())
	}
}

// TestE1_ClockGoesBack plans with expectations that were recorded an hour ahead: the
// job is held for five minutes, and in the whole of them.
func TestE1_ClockGoesBack(t *testing.T) {
	now := time.Unix(10_000, 0)
	spec := job.Spec{Template: job.Template{RestartPolicy: job.RestartNever}}
	job.Default(&spec)
	s := job.Snapshot{
		Job:    job.Job{Name: "j", UID: "job-1", Spec: spec},
		Now:    now,
		Memory: job.Memory{JobUID: "job-1", Expectations: expectations.Counts{Creations: 1, At: now.Add(time.Hour)}},
	}
	for _, c := range []struct {
		after   time.Duration
		creates int
	}{{0, 0}, {time.Minute, 0}, {5*time.Minute - 1, 0}, {5 * time.Minute, 1}} {
		s.Now = now.Add(c.after)
		plan := job.PlanOf(t, s)
		if len(plan.Create) != c.creates {
			t.Errorf("after %v: %d creates, want %d\n%s", c.after, len(plan.Create), c.creates, plan.String())
		}
		s.Memory = plan.Conclude(job.Outcome{}).Memory
	}
}

// TestTI2_TI3_ExpireConverges raises the TTL, moves the finish into the future, and
// follows the wake-ups: the job goes at the very time it expires, and not before
// (TI2, TI3).
func TestTI2_TI3_ExpireConverges(t *testing.T) {
	finish := time.Unix(5000, 0)
	j := job.Job{
		Spec: job.Spec{TTLSecondsAfterFinished: ptr[int32](60)},
		Status: job.Status{Conditions: []job.Condition{
			{Type: job.ConditionComplete, Status: job.ConditionTrue, LastTransitionTime: finish},
		}},
	}
	now := finish.Add(-time.Hour) // another machine's clock is ahead
	for round := 0; ; round++ {
		expired, at, err := job.Expire(j, job.Options{}, now)
		if err != nil || round > 2 {
			t.Fatal(round, err)
		}
		if expired {
			break
		}
		if !at.After(now) {
			t.Fatalf("again at %v, it is %v", at, now)
		}
		now = at
		if round == 0 {
			j.Spec.TTLSecondsAfterFinished = ptr[int32](120)
		}
	}
	if want := finish.Add(120 * time.Second); !now.Equal(want) {
		t.Errorf("expired at %v, want %v", now, want)
	}
}
