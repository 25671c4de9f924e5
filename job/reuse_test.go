package job_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/intact"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobreason"
)

// TestJI24_ReusedPlanner plans the rounds of several jobs with one Planner, as a service does. A
// fresh Planner makes the same plan, byte for byte, and later rounds do not change the results of
// earlier ones.
func TestJI24_ReusedPlanner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var planner job.Planner
		var kept []keepsake
		w, crowd := drawWorld(t), job.Snapshot{Job: job.Job{UID: "crowd", Name: "crowd", Spec: drawSpec(t)}}
		for range rapid.IntRange(5, 40).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "crowd") {
				drawCrowd(t, &crowd)
				held, c := reuse(t, &planner, crowd)
				kept = append(kept, held...)
				crowd.Memory = c.Memory
				continue
			}

			step(t, w, allFaults)
			held, _ := reuse(t, &planner, drawLook(t, w))
			kept = append(kept, held...)
		}

		for _, k := range kept {
			if d := intact.Diff(k.value, k.was); d != "" {
				t.Fatalf("JI24: a later round changes what an earlier one has returned: %s", d)
			}
		}
	})
}

// keepsake is a value that an earlier round returned, and a copy that was made immediately.
type keepsake struct{ value, was any }

// drawLook draws what the controller sees of a job. Sometimes it is a job that the controller must
// not plan.
func drawLook(t *rapid.T, w *world.Job) job.Snapshot {
	s := w.Snapshot()
	switch rapid.IntRange(0, 15).Draw(t, "look") {
	case 0:
		s.Job.Spec.CompletionMode = "Round"
	case 1:
		s.Job.Spec.ManagedBy = ptr("example.com/other")
	case 2:
		s.Memory = job.Memory{}
	}
	return s
}

// drawCrowd draws a snapshot of a job with much to do: pods that ended at an unknown time, and
// uncounted UIDs, some of whose pods still have the finalizer.
func drawCrowd(t *rapid.T, s *job.Snapshot) {
	s.Now = world.Start.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "now")) * time.Minute)
	s.Pods, s.Job.Status = nil, job.Status{}
	lists := new(job.UncountedTerminatedPods)
	for i := range int32(rapid.IntRange(0, 6).Draw(t, "pods")) {
		uid := job.UID(fmt.Sprint("uid-", i))
		switch rapid.IntRange(0, 3).Draw(t, "recorded") {
		case 0:
			lists.Succeeded = append(lists.Succeeded, uid)
		case 1:
			lists.Failed = append(lists.Failed, uid)
		}
		if rapid.Bool().Draw(t, "seen") {
			phase := rapid.SampledFrom([]job.PodPhase{job.PodRunning, job.PodSucceeded, job.PodFailed}).Draw(t, "phase")
			s.Pods = append(s.Pods, job.Pod{UID: uid, Name: string(uid), Index: job.IndexAt(i), Phase: phase,
				Untracked: rapid.Bool().Draw(t, "untracked")})
		}
	}
	if rapid.Bool().Draw(t, "lists") {
		s.Job.Status.UncountedTerminatedPods = lists
	}
}

// reuse plans a round. It returns the conclusion, and all values that outlive the plan.
func reuse(t *rapid.T, planner *job.Planner, s job.Snapshot) (kept []keepsake, conclusion job.Conclusion) {
	plan, err := planner.Reconcile(&s)
	must.OK(t, err)
	fresh := job.PlanOf(t, s)
	if got, want := text(plan), text(fresh); got != want {
		t.Fatalf("JI24: the plan of a reused Planner differs:\n%s", cmp.Diff(want, got))
	}
	clone := plan.Clone()
	kept = append(kept, keepsake{clone, intact.Copy(*plan)})
	was := intact.Copy(*plan)
	written := plan.Clone()
	intact.ScribbleAll(&written, reflect.TypeFor[expectations.UIDs]())
	if d := intact.Diff(*plan, was); d != "" {
		t.Fatalf("JI24: a clone shares memory with the plan: %s", d)
	}
	for range 2 {
		o := drawOutcome(t, plan, jobreason.ResultDone, jobreason.ResultDone, jobreason.ResultUnsuccessful)
		recording := plan.Record(o.Writes)
		settlement := recording.Settle(o.Recorded, o.Untracked)
		conclusion = settlement.Conclude(o.Settled)
		for _, v := range []any{recording.Status, settlement.Status, conclusion} {
			kept = append(kept, keepsake{v, intact.Copy(v)})
		}
	}
	// A caller may write to the conclusion.
	mine := plan.Conclude(job.Outcome{})
	intact.Scribble(&mine.Events)
	intact.Scribble(&mine.Metrics)
	if got, want := text(plan), text(fresh); got != want {
		t.Fatalf("JI24: the conclusion is part of the plan:\n%s", cmp.Diff(want, got))
	}
	return kept, conclusion
}

// TestJI24_ListsThatAreEmptyAgain: a Planner reuses the memory of its lists, so a list that is
// empty again is not nil. The plan does not show the difference.
func TestJI24_ListsThatAreEmptyAgain(t *testing.T) {
	var planner job.Planner
	s := steady(1, false)
	for _, lists := range []*job.UncountedTerminatedPods{{Succeeded: []job.UID{"s"}, Failed: []job.UID{"f"}}, nil} {
		s.Job.Status.UncountedTerminatedPods = lists
		plan, err := planner.Reconcile(&s)
		must.OK(t, err)
		fresh, _ := job.Reconcile(s)
		if got, want := text(plan), text(fresh); got != want {
			t.Errorf("lists %v (-fresh +reused):\n%s", lists, cmp.Diff(want, got))
		}
	}
}
