package job_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

// follow runs rounds as long as a conclusion asks for another one, on a backend without
// notifications. It returns the number of rounds.
func follow(t rapid.TB, w *world.Job) (rounds int) {
	for ; rounds < 1000; rounds++ {
		mustRound(t, w)
		d, ok := w.Requeue.After(w.Now)
		switch {
		case w.Retry:
			w.Now = w.Now.Add(time.Second)
		case w.Requeue.Reason == jobreason.WaitDeadline && w.Job.Status.StartTime.IsZero():
			// If only the start time would change, the status is not written (J40). The start time
			// then moves with the clock, and so does the deadline, which counts from it.
			return rounds + 1
		case ok && d < 100*time.Hour:
			w.Now = w.Now.Add(d)
		default:
			return rounds + 1
		}
	}
	t.Fatalf("L6: %d rounds, and no end\n%s", rounds, w.State())
	return rounds
}

// TestL9_NoStall plays random jobs. The controller runs only when Requeue or Retry asks for it, and
// after notifications: those of pods that start or end, and of edits.
func TestL9_NoStall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world.NewJob(drawSpec(t))
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			drawFaults(t, w, allFaults)
			follow(t, w)
			if rapid.IntRange(0, 3).Draw(t, "meddle") == 0 {
				meddle(t, w)
			} else {
				live(t, w)
			}
		}
		w.Fault = nil
		w.Edit(func(s *job.Spec) { s.Suspend, s.Parallelism = ptr(false), ptr(max(*s.Parallelism, 1)) })
		for w.Job.Status.Finished() == "" && w.Job.DeletionTimestamp.IsZero() {
			follow(t, w)
			if !endSomePod(w) && w.Job.Status.Finished() == "" {
				t.Fatalf("L9: nothing says that there is something to do\n%s\n%s", w.State(), w.LastPlan())
			}
		}
	})
}

// TestL6_NoHotLoop runs several rounds without news from the watch. At most one of them may ask for
// another round immediately. After a crash the count starts again, since the controller lists
// afresh.
func TestL6_NoHotLoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world.NewJob(drawSpec(t))
		w.Stale = true
		w.Versions = rapid.Bool().Draw(t, "versions")
		for range rapid.IntRange(5, 40).Draw(t, "steps") {
			if rapid.IntRange(0, 2).Draw(t, "act") > 0 {
				live(t, w)
				deliver(t, w)
				continue
			}

			drawFaults(t, w, allFaults)
			hurries := 0
			for range 4 {
				mustRound(t, w)
				if w.Memory.JobUID == "" {
					hurries = 0 // after a crash the next round lists afresh, so its input is another one
				}
				if d, ok := w.Requeue.After(w.Now); ok && d < time.Second && w.Requeue.Reason == jobreason.WaitNext {
					hurries++
				}
			}

			if hurries > 1 {
				t.Fatalf("L6: %d rounds in a row ask for another one immediately\n%s\n%s", hurries, w.State(),
					w.LastPlan())
			}
		}
	})
}

// endSomePod ends the first pod that has not ended. It returns false if there is none.
func endSomePod(w *world.Job) bool {
	for _, p := range slices.Clone(w.Pods) {
		if p.Phase < job.PodSucceeded && p.Owner != jobpod.Foreign {
			w.Run(p)
			w.Finish(p, 0)
			return true
		}
	}
	return false
}

// checkNoStall plans from the current state and checks that there is nothing to do (L9), unless the
// conclusion asks for another round soon.
func checkNoStall(t *rapid.T, w *world.Job) {
	if d, ok := w.Requeue.After(w.Now); w.Retry || w.Stale || ok && d <= time.Second {
		return
	}
	plan := job.PlanOf(t, w.Snapshot())
	if isBusy(plan) {
		t.Fatalf("L9: again at %v, and there is something to do immediately:\n%s\nafter the plan:\n%s\n%s",
			w.Requeue.At, plan.String(), w.LastPlan(), w.State())
	}
}

func isBusy(p *job.Plan) bool {
	r := p.Record(job.Writes{Claimed: job.Reply{Result: jobreason.ResultDone}}) // finalizers that wait for the end do not count
	return r.Write || len(p.Adopt)+len(p.Release)+len(p.Delete)+len(p.Create)+len(r.Untrack) > 0
}

// TestL9_GoesOn: if a round leaves work to the next one, the next one comes immediately.
func TestL9_GoesOn(t *testing.T) {
	const many = 1200
	parallel := job.Spec{Completions: ptr[int32](many), Parallelism: ptr[int32](many)}
	perIndex := parallel
	perIndex.CompletionMode, perIndex.BackoffLimitPerIndex = job.Indexed, ptr[int32](1)
	perIndexOne := perIndex
	perIndexOne.Completions, perIndexOne.Parallelism = ptr[int32](1), ptr[int32](1)

	end := func(w *world.Job) {
		for _, p := range slices.Clone(w.Pods) {
			w.Run(p)
			w.Finish(p, 0)
		}
	}

	for _, c := range []struct {
		name   string
		spec   job.Spec
		begin  func(*world.Job)
		rounds int
		holds  func(*world.Job) bool
	}{
		{"1200 completions at once", parallel, nil, 3, func(w *world.Job) bool { return len(w.Pods) == many }},
		{"1200 indexes at once", perIndex, nil, 3, func(w *world.Job) bool { return len(w.Pods) == many }},
		{"1200 pods have succeeded", parallel, func(w *world.Job) {
			follow(t, w)
			end(w)
		}, 3, func(w *world.Job) bool { return w.Job.Status.Finished() == job.ConditionComplete }},
		{"1200 pods are too many", parallel, func(w *world.Job) {
			follow(t, w)
			w.Edit(func(s *job.Spec) { s.Parallelism = ptr[int32](0) })
		}, 4, func(w *world.Job) bool { return len(w.Pods) == 0 && *w.Job.Status.Terminating == 0 }},
		{"an orphan is adopted", job.Spec{Completions: ptr[int32](2), Parallelism: ptr[int32](2)}, func(w *world.Job) {
			w.AddPod(job.Pod{Owner: jobpod.Orphan, Index: job.NoIndex(), Untracked: true})
		}, 2, func(w *world.Job) bool { return len(w.Pods) == 2 }},
		{"pods that never ran are deleted as the job ends", job.Spec{Parallelism: ptr[int32](2), BackoffLimit: ptr[int32](0)}, func(w *world.Job) {
			follow(t, w)
			w.Finish(w.Pods[0], 1)
		}, 2, func(w *world.Job) bool { return w.Job.Status.Finished() == job.ConditionFailed }},
		{"an index gets a replacement that carries its failures", perIndexOne, func(w *world.Job) {
			follow(t, w)
			w.Run(w.Pods[0])
			w.Finish(w.Pods[0], 1)
			w.Now = w.Now.Add(time.Minute)
		}, 2, func(w *world.Job) bool { return w.Job.Status.Failed == 1 && w.Pods[0].Untracked }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.spec, job.Options{})
			if c.begin != nil {
				c.begin(w)
			}

			before := w.Now
			if rounds := follow(t, w); rounds != c.rounds {
				t.Errorf("%d rounds, want %d", rounds, c.rounds)
			}
			if !w.Now.Equal(before.Add(time.Duration(c.rounds - 1))) {
				t.Errorf("it took %v", w.Now.Sub(before))
			}
			if !c.holds(w) {
				t.Errorf("left undone:\n%s", w.State())
			}
		})
	}
}

// TestL9_OnlyADeletion: a round deletes a pod and writes no status. The next round may follow
// immediately, since the expectations hold it back until its snapshot shows the deletion.
func TestL9_OnlyADeletion(t *testing.T) {
	w := world.NewJob(job.Spec{Parallelism: ptr[int32](0), Completions: ptr[int32](1)})
	s := w.Snapshot()
	s.Job.Status = job.Status{StartTime: s.Now, Ready: ptr[int32](0), Terminating: ptr[int32](1),
		UncountedTerminatedPods: &job.UncountedTerminatedPods{}}
	s.Pods = []job.Pod{{Name: "a", UID: "a", Phase: job.PodRunning, Index: job.NoIndex()}}
	plan := job.PlanOf(t, s)
	if len(plan.Delete) != 1 {
		t.Fatalf("want a deletion:\n%s", plan.String())
	}
	end := plan.Conclude(job.Outcome{Writes: job.Writes{Deleted: []job.Effect{{Result: jobreason.ResultDone}}}})
	if want := (job.Requeue{At: s.Now, Reason: jobreason.WaitNext}); end.Retry || end.Requeue != want {
		t.Errorf("plan again %v, retry %v, want %v", end.Requeue, end.Retry, want)
	}
}
