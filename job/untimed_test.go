package job_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/release"
)

// TestJ32_UntimedFailure: the time of a failure is unknown. The backoff counts from the round that
// first sees the pod, and one note reports that (JI21).
func TestJ32_UntimedFailure(t *testing.T) {
	ended := jobpod.Container{Name: "main", State: jobpod.Terminated, ExitCode: 1, FinishedAt: world.Start}
	forgotten, running := ended, ended
	forgotten.State, running.State = jobpod.Waiting, jobpod.Running
	for _, test := range []struct {
		name   string
		detail *job.PodDetail
		note   string
	}{
		{"no detail", nil, "is unknown"},
		{"an empty detail", &job.PodDetail{}, "is unknown"},
		{"a forgotten state", &job.PodDetail{Containers: []jobpod.Container{ended, forgotten}}, `state of container "main" is not Terminated`},
		{"a container that runs on", &job.PodDetail{Containers: []jobpod.Container{running}}, `state of container "main" is not Terminated`},
		{"a sidecar that runs on", &job.PodDetail{Containers: []jobpod.Container{ended, {Name: "side", Kind: jobpod.RestartableInit, State: jobpod.Running}}}, "is unknown"},
		{"an end without a time", &job.PodDetail{Containers: []jobpod.Container{{State: jobpod.Terminated, ExitCode: 1}}}, "is unknown"},
	} {
		for _, perIndex := range []bool{false, true} {
			for _, options := range []job.Options{{}, job.Kubernetes(release.Newest())} {
				spec := job.Spec{CompletionMode: job.Indexed, Completions: ptr[int32](1),
					Template: job.Template{RestartPolicy: job.RestartNever}}
				if perIndex {
					spec.BackoffLimitPerIndex = ptr[int32](3)
				}
				s := world.NewJob(spec).Snapshot()
				s.Options = options
				s.Pods = []job.Pod{{Name: "a", UID: "a", Phase: job.PodFailed, Index: job.IndexAt(0),
					Detail: test.detail}}
				plan := job.PlanOf(t, s)
				if want := s.Now.Add(10 * time.Second); len(plan.Create) > 0 || !plan.Requeue.At.Equal(want) {
					t.Errorf("%s, per index %v: want a backoff until %v:\n%s", test.name, perIndex, want, plan.String())
				}
				if len(plan.Notes) != 1 || plan.Notes[0].Field != "pods[a].containers.finishedAt" ||
					!strings.Contains(plan.Notes[0].Message, test.note) {
					t.Errorf("%s: notes %v, want one with %q", test.name, plan.Notes, test.note)
				}
				// The next round knows the pod, even if no write of the first round was made.
				s.Memory, s.Now = plan.Conclude(job.Outcome{}).Memory, s.Now.Add(4*time.Second)
				plan = job.PlanOf(t, s)
				if want := s.Now.Add(6 * time.Second); !plan.Requeue.At.Equal(want) || len(plan.Notes) > 0 {
					t.Errorf("%s, per index %v: again at %v, want %v, notes %v", test.name, perIndex, plan.Requeue.At,
						want, plan.Notes)
				}
			}
		}
	}
}

// TestJ31_UntimedFailureAndSuccess: it is unknown whether the failure came after the success of the
// same round. The failure counts, whatever the time of the round is (L6).
func TestJ31_UntimedFailureAndSuccess(t *testing.T) {
	for _, since := range []time.Duration{-time.Second, 0, time.Second} {
		s := world.NewJob(job.Spec{Completions: ptr[int32](3),
			Template: job.Template{RestartPolicy: job.RestartNever}}).Snapshot()
		s.Pods = []job.Pod{
			{Name: "a", UID: "a", Phase: job.PodFailed},
			{Name: "b", UID: "b", Phase: job.PodSucceeded, Detail: &job.PodDetail{CreationTimestamp: s.Now.Add(-since)}},
		}
		plan, err := job.Reconcile(s)
		if want := s.Now.Add(10 * time.Second); err != nil || len(plan.Create) > 0 || !plan.Requeue.At.Equal(want) {
			t.Errorf("%v after the success: again at %v, want %v, error %v", since, plan.Requeue.At, want, err)
		}
	}
}

// TestJI21_Untimed lets the pods of a job fail again and again without a time, and follows the
// wake-ups alone: each retry comes exactly when its backoff is over, even if there are rounds in
// between and writes fail.
func TestJI21_Untimed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := job.Spec{Completions: ptr[int32](1), Template: job.Template{RestartPolicy: job.RestartNever}}
		if rapid.Bool().Draw(t, "per index") {
			spec.CompletionMode, spec.BackoffLimitPerIndex = job.Indexed, ptr[int32](9)
		}

		w := world.NewJob(spec)
		w.Seen = forgetTimes
		for attempt := range 5 {
			w.Fault = nil
			if plan := round(t, w); len(plan.Create) != 1 {
				t.Fatalf("attempt %d does not start:\n%s", attempt, w.LastPlan())
			}
			w.Now = w.Now.Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "runs")))
			w.Finish(w.Pods[len(w.Pods)-1], 1)
			w.Now = w.Now.Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "is seen after")))
			due := w.Now.Add(10 * time.Second << attempt)

			for range rapid.IntRange(1, 4).Draw(t, "rounds") {
				drawFaults(t, w, []world.Fault{world.Fail})
				plan := round(t, w)
				if len(plan.Create) > 0 || !plan.Requeue.At.Equal(due) {
					t.Fatalf("JI21: again at %v, want %v:\n%s", plan.Requeue.At, due, w.LastPlan())
				}
				w.Now = w.Now.Add(due.Sub(w.Now) / 3)
			}
			w.Now = due
		}
	})
}

// TestLivesUntimed is TestLivesFresh with pods without times: the job must still come to rest (L1).
func TestLivesUntimed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world.NewJob(drawSpec(t))
		w.Seen = forgetTimes
		liveToTheEnd(t, w)
	})
}

// forgetTimes makes the pods look as if the adapter kept no times except those of deletions. For an
// ended container it clears either the time or the state, by the parity of the UID.
func forgetTimes(s *job.Snapshot) {
	for i := range s.Pods {
		p := &s.Pods[i]
		detail := *p.Detail
		detail.CreationTimestamp, detail.ReadyTransition = time.Time{}, time.Time{}
		detail.Containers = slices.Clone(detail.Containers)
		for n := range detail.Containers {
			if c := &detail.Containers[n]; p.UID[len(p.UID)-1]%2 == 0 {
				c.State = jobpod.Waiting
			} else {
				c.FinishedAt = time.Time{}
			}
		}
		p.Detail = &detail
	}
}
