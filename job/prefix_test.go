package job_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

// TestJI26_PrefixLaw draws a job and the end of each of its pods. It runs the job once without
// faults, and then once for each write, with a crash before this write. After the crash the
// controller has forgotten everything. The job always ends in the same way (L8).
func TestJI26_PrefixLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec, failures := drawDeterministic(t)
		want, writes := runToEnd(t, spec, failures, -1)
		for crash := range writes {
			if got, _ := runToEnd(t, spec, failures, crash); got != want {
				t.Fatalf("JI26: with a crash before write %d: %s\nwithout: %s", crash, got, want)
			}
		}
	})
}

// drawDeterministic draws a job that completes, and which of its attempts fail. Attempts are
// numbered for each index of an Indexed job, and otherwise in the order of creation.
func drawDeterministic(t *rapid.T) (job.Spec, map[string]bool) {
	spec := job.Spec{
		Parallelism:  ptr(rapid.Int32Range(1, 3).Draw(t, "parallelism")),
		Completions:  ptr(rapid.Int32Range(1, 4).Draw(t, "completions")),
		BackoffLimit: ptr[int32](100),
		Template:     job.Template{RestartPolicy: job.RestartNever},
	}

	if rapid.Bool().Draw(t, "gang") {
		spec.Scheduling = jobgen.DrawScheduling(t)
	}

	failures := make(map[string]bool)
	if rapid.Bool().Draw(t, "indexed") {
		spec.CompletionMode = job.Indexed
		if rapid.Bool().Draw(t, "per index") {
			spec.BackoffLimitPerIndex = ptr(rapid.Int32Range(0, 2).Draw(t, "backoffLimitPerIndex"))
		}
		for i := range *spec.Completions {
			for attempt := range rapid.IntRange(0, 2).Draw(t, "failures of an index") {
				failures[fmt.Sprintf("%d/%d", i, attempt)] = true
			}
		}
		return spec, failures
	}

	for _, n := range rapid.SliceOfN(rapid.IntRange(0, 8), 0, 4).Draw(t, "failing attempts") {
		failures[fmt.Sprintf("-1/%d", n)] = true
	}
	return spec, failures
}

// runToEnd returns the end of the job and the number of writes.
func runToEnd(t *rapid.T, spec job.Spec, failures map[string]bool, crash int) (string, int) {
	w := world.NewJob(spec)
	w.Options.Gangs = spec.Scheduling != nil
	writes := 0
	w.Fault = func(world.Write) world.Fault {
		if writes++; writes-1 == crash {
			return world.Crash
		}
		return world.None
	}

	attempts := make(map[int32]int)
	decided := make(map[job.UID]bool)
	for range 200 {
		plan := mustRound(t, w)
		for _, p := range slices.Clone(w.Pods) {
			if decided[p.UID] {
				continue
			}
			decided[p.UID] = true
			code := int32(0)
			if failures[fmt.Sprintf("%d/%d", p.Index.Int32(), attempts[p.Index.Int32()])] {
				code = 1
			}
			attempts[p.Index.Int32()]++
			w.Run(p)
			w.Finish(p, code)
		}

		if w.Job.Status.Finished() != "" {
			break
		}
		if d, ok := plan.Requeue.After(w.Now); ok {
			w.Now = w.Now.Add(d)
		}
		w.Now = w.Now.Add(time.Second)
	}

	s := w.Job.Status
	return fmt.Sprintf("%s succeeded=%d failed=%d completed=%q failedIndexes=%q", s.Finished(), s.Succeeded, s.Failed,
		s.CompletedIndexes, value.Of(s.FailedIndexes)), writes
}

// TestJI25_Idempotence carries out plans in a world in which nothing else happens. Nothing is left
// to write after three rounds, or after four if the first one adopts pods.
func TestJI25_Idempotence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := lived(t, 30, nil)
		w.Fault = nil
		before, allowed := -1, 3
		for n := 0; before != w.Writes; n++ {
			if n > allowed {
				t.Fatalf("JI25: still writing in round %d\n%s\n%s", n, w.State(), w.LastPlan())
			}
			before = w.Writes
			if plan := round(t, w); n == 0 && len(plan.Adopt) > 0 {
				allowed++ // the consequences of the adoption are decided in the next round (J6)
			}
		}
	})
}

// TestJI25_Adoption needs the most rounds: an orphan is adopted, and then deleted because its index
// is out of range. Only then is a failed pod replaced and its finalizer removed.
func TestJI25_Adoption(t *testing.T) {
	w := newWorld(t,
		job.Spec{Completions: ptr[int32](1), CompletionMode: job.Indexed, BackoffLimitPerIndex: ptr[int32](1)},
		job.Options{})
	mustRound(t, w)
	w.Run(w.Pods[0])
	w.Finish(w.Pods[0], 1)
	w.Now = w.Now.Add(20 * time.Minute)
	w.AddPod(job.Pod{Owner: jobpod.Orphan, Index: job.IndexAt(2), Untracked: true})
	for _, want := range []string{"adopt p2", "delete p2", "create index 0", "untrack j-0-1", "wait: 1 active"} {
		plan := mustRound(t, w)
		if text := plan.String(); !strings.HasPrefix(text, want) {
			t.Errorf("want %s:\n%s", want, text)
		}
	}
	if err := w.Err(); err != nil {
		t.Error(err)
	}
}

// TestJI22_MemoryOfAnotherJob gives a job the memory of an earlier one with the same name: the plan
// must be the same as without a memory.
func TestJI22_MemoryOfAnotherJob(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := lived(t, 20, allFaults)
		s := w.Snapshot()
		s.Memory = job.Memory{}
		want := job.PlanOf(t, s)
		s.Memory = w.Memory
		s.Memory.JobUID, s.Memory.Finished = "an earlier job", true
		got := job.PlanOf(t, s)
		same(t, "JI22: the memory of another job shows", *want, *got)
	})
}

// TestManagedByAnother gives a job in the middle of its life to another controller:
// the plan is empty (JI23).
func TestManagedByAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := lived(t, 20, allFaults)
		s := w.Snapshot()
		s.Job.Spec.ManagedBy = ptr("example.com/other")
		plan := job.PlanOf(t, s)
		recording := plan.Record(job.Writes{})
		settlement := recording.Settle(job.Reply{Result: jobreason.ResultNotTried}, nil)
		conclusion := settlement.Conclude(job.Reply{Result: jobreason.ResultNotTried})
		if len(plan.Adopt)+len(plan.Release)+len(plan.Delete)+len(plan.Create)+len(plan.Untrack) > 0 ||
			recording.Write || settlement.Write || conclusion.Retry || !conclusion.Metrics.External {
			t.Fatalf("JI23: the plan is not empty:\n%s", plan.String())
		}
	})
}
