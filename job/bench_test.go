package job_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// steady returns a snapshot of n running pods, with nothing to do.
func steady(n int, indexed bool) job.Snapshot {
	spec := job.Spec{
		Parallelism: ptr(int32(n)),
		Completions: ptr(int32(2 * n)),
		Template:    job.Template{RestartPolicy: job.RestartNever},
	}
	if indexed {
		spec.CompletionMode = job.Indexed
	}
	job.Default(&spec)

	s := job.Snapshot{
		Now: world.Start,
		Job: job.Job{Namespace: "default", Name: "j", UID: "6f1c2a9e-0000-4000-8000-000000000000", Spec: spec},
	}

	for i := range n {
		s.Pods = append(s.Pods, job.Pod{
			Name:     fmt.Sprintf("j-%d-abcde", i),
			UID:      job.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(i)*2654435761, i)),
			Phase:    job.PodRunning,
			Ready:    true,
			Assigned: true,
			Index:    job.IndexAt(int32(i)),
			Detail: &job.PodDetail{
				CreationTimestamp: world.Start,
				Containers:        []jobpod.Container{{Name: "main", State: jobpod.Running}},
			},
		})
	}

	s.Job.Status = job.Status{StartTime: world.Start, Active: int32(n), Ready: ptr(int32(n)),
		Terminating: ptr[int32](0)}
	return s
}

var sizes = []int{100, 1_000, 10_000, 100_000, 1_000_000}

func perPod(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/pod")
}

// bySteadySize runs a benchmark for steady snapshots of each size.
func bySteadySize(b *testing.B, sizes []int, indexed bool, run func(b *testing.B, s job.Snapshot, n int)) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) { run(b, steady(n, indexed), n) })
	}
}

// BenchmarkSteady measures a round with nothing to do and a reused Planner.
func BenchmarkSteady(b *testing.B) { bySteadySize(b, sizes, false, benchRounds) }

// BenchmarkSteadyHalfDone is BenchmarkSteady with every second pod succeeded and accounted for.
func BenchmarkSteadyHalfDone(b *testing.B) {
	bySteadySize(b, sizes, false, func(b *testing.B, s job.Snapshot, n int) {
		for i := 0; i < n; i += 2 {
			s.Pods[i].Phase, s.Pods[i].Untracked, s.Pods[i].Ready = job.PodSucceeded, true, false
		}
		s.Job.Spec.Parallelism = ptr(int32(n / 2))
		s.Job.Status.Succeeded, s.Job.Status.Active, s.Job.Status.Ready = int32(n/2), int32(n/2), ptr(int32(n/2))
		benchRounds(b, s, n)
	})
}

// BenchmarkSteadyIndexed is BenchmarkSteady for an Indexed job.
func BenchmarkSteadyIndexed(b *testing.B) { bySteadySize(b, sizes[:4], true, benchRounds) }

func benchRounds(b *testing.B, s job.Snapshot, n int) {
	var p job.Planner
	b.ReportAllocs()
	for b.Loop() {
		plan, err := p.Reconcile(&s)
		must.OK(b, err)
		conclusion := plan.Conclude(job.Outcome{})
		if conclusion.Retry || len(plan.Create)+len(plan.Delete) > 0 {
			b.Fatal("the round is not steady")
		}
	}
	perPod(b, n)
}

// BenchmarkBareLoop reads, of each pod, the fields that every round needs, and nothing else. It is
// the yardstick for BenchmarkSteady.
func BenchmarkBareLoop(b *testing.B) {
	bySteadySize(b, sizes, false, func(b *testing.B, s job.Snapshot, n int) {
		for b.Loop() {
			if bareLoop(s.Pods) != 2*n {
				b.Fatal("miscounted")
			}
		}
		perPod(b, n)
	})
}

// BenchmarkBareRound is the yardstick for a whole round. It reads the pods like BenchmarkBareLoop,
// empties a plan and fills a conclusion, and does nothing else.
func BenchmarkBareRound(b *testing.B) {
	bySteadySize(b, sizes[:3], false, func(b *testing.B, s job.Snapshot, n int) {
		var plan job.Plan
		var conclusion job.Conclusion
		for b.Loop() {
			plan = job.Plan{JobUID: s.Job.UID}
			conclusion = job.Conclusion{Status: s.Job.Status, Memory: s.Memory}
			if bareLoop(s.Pods) != 2*n || conclusion.Retry || plan.JobUID == "" {
				b.Fatal("miscounted")
			}
		}
		perPod(b, n)
	})
}

//go:noinline
func bareLoop(pods []job.Pod) (sum int) {
	for i := range pods {
		p := &pods[i]
		if p.Phase == job.PodRunning && p.Deletion == nil {
			sum++
		}
		if p.Ready {
			sum++
		}
	}
	return sum
}

// BenchmarkFailing measures a round of an Indexed job with 100 000 indexes, a per-index limit and a
// failure policy. One in a hundred of its 10 000 pods has just failed. 40 000 indexes are
// completed, except for every hundredth or, for the longest possible list, every second one.
func BenchmarkFailing(b *testing.B) {
	for _, c := range []struct {
		name  string
		every int
	}{{"list=usual", 100}, {"list=alternating", 2}} {
		b.Run(c.name, func(b *testing.B) {
			s := failing(c.every)
			var p job.Planner
			b.ReportAllocs()
			for b.Loop() {
				plan, err := p.Reconcile(&s)
				if err != nil || len(plan.Create) == 0 {
					b.Fatal("nothing to replace", err)
				}
			}
			perPod(b, len(s.Pods))
		})
	}
}

func failing(missingEvery int) job.Snapshot {
	const pods, indexes = 10_000, 100_000
	s := steady(pods, true)
	spec := &s.Job.Spec
	spec.Completions, spec.Parallelism = ptr[int32](indexes), ptr[int32](pods)
	spec.BackoffLimitPerIndex, spec.BackoffLimit = ptr[int32](3), ptr[int32](1<<31-1)
	spec.PodReplacementPolicy = job.ReplaceFailed
	spec.PodFailurePolicy = &job.PodFailurePolicy{Rules: []job.PodFailurePolicyRule{
		{Action: job.FailIndex, OnExitCodes: &job.OnExitCodes{Operator: job.ExitCodeIn, Values: []int32{42}}},
		{Action: job.IgnoreFailure, OnPodConditions: []job.PodCondition{{Type: "DisruptionTarget"}}},
	}}

	var completed indexset.Set
	for i := 50_000; i < 90_000; i++ {
		if i%missingEvery != 0 {
			completed.Add(int32(i))
		}
	}
	s.Job.Status.CompletedIndexes = string(completed.AppendText(nil))
	s.Job.Status.Succeeded = int32(completed.Len())

	for i := 0; i < pods; i += 100 {
		s.Pods[i].Phase, s.Pods[i].Ready = job.PodFailed, false
		s.Pods[i].Detail.Containers = []jobpod.Container{{Name: "main", State: jobpod.Terminated, ExitCode: 1,
			FinishedAt: world.Start}}
	}
	s.Now = world.Start.Add(time.Minute)
	return s
}

// TestSteadyRoundDoesNotAllocate: a round with nothing to do allocates nothing, neither in planning
// nor in settling.
func TestSteadyRoundDoesNotAllocate(t *testing.T) {
	delays := backoff.Policy{Base: time.Second, Factor: 3, Max: time.Hour}
	for i := range 4 {
		indexed, options := i%2 > 0, i/2 > 0
		s := steady(1000, indexed)
		if options {
			s.Options.Backoff = delays
		}
		var p job.Planner
		got := testing.AllocsPerRun(100, func() {
			plan, err := p.Reconcile(&s)
			must.OK(t, err)
			if plan.Conclude(job.Outcome{}).Retry {
				t.Fatal("the round is not steady")
			}
		})
		if got != 0 {
			t.Errorf("indexed %v, options %v: %v allocations", indexed, options, got)
		}
	}
}
