package job_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

// dimensions are the kinds of things that a snapshot can hold in large numbers, each with a
// snapshot that holds n of them. The cost of a round must grow in proportion.
var dimensions = []struct {
	name     string
	snapshot func(n int) job.Snapshot
}{
	{"ending", ending},
	{"succeeded", succeededAtOnce},
	{"uncounted", uncounted},
	{"untracking", untracking},
	{"intervals", intervals},
	{"pending", pendingTooLong},
	{"waiting", indexesInBackoff},
	{"adopted", adopted},
	{"removed", func(n int) job.Snapshot { s := steady(n, true); s.Job.Spec.Parallelism = ptr[int32](0); return s }},
	{"duplicates", func(n int) job.Snapshot {
		s := steady(n, true)
		for i := range s.Pods {
			s.Pods[i].Index = job.IndexAt(int32(i % 2))
		}
		return s
	}},
	{"suspended", func(n int) job.Snapshot { s := steady(n, false); s.Job.Spec.Suspend = ptr(true); return s }},
}

// ending returns a job whose deadline has passed: each pod is deleted, untracked, counted and
// reported in one round.
func ending(n int) job.Snapshot {
	s := steady(n, false)
	s.Job.Spec.ActiveDeadlineSeconds = ptr[int64](1)
	s.Now = world.Start.Add(time.Minute)
	return s
}

func succeededAtOnce(n int) job.Snapshot {
	s := steady(n, true)
	for i := range s.Pods {
		s.Pods[i].Phase, s.Pods[i].Ready = job.PodSucceeded, false
	}
	return s
}

// uncounted returns a job whose status lists n uncounted failures. Every second of their pods still
// has the finalizer.
func uncounted(n int) job.Snapshot {
	s := steady(n, false)
	lists := &job.UncountedTerminatedPods{}
	for i := range s.Pods {
		s.Pods[i].Phase, s.Pods[i].Ready, s.Pods[i].Untracked = job.PodFailed, false, i%2 != 0
		lists.Failed = append(lists.Failed, s.Pods[i].UID)
	}
	s.Job.Spec.BackoffLimit = ptr[int32](1 << 30)
	s.Job.Status.UncountedTerminatedPods = lists
	return s
}

func untracking(n int) job.Snapshot {
	s := succeededAtOnce(n)
	var uids []job.UID
	for i := range s.Pods {
		uids = append(uids, s.Pods[i].UID)
		s.Pods[i].Untracked = i%2 != 0
	}
	s.Job.Status.CompletedIndexes = fmt.Sprintf("0-%d", n-1)
	s.Job.Status.Succeeded = int32(n)
	s.Memory = job.Memory{JobUID: s.Job.UID, Untracking: expectations.NewUIDs(uids...)}
	return s
}

// intervals returns a job with the longest possible list of n completed indexes, and one new
// success.
func intervals(n int) job.Snapshot {
	s := steady(1, true)
	s.Job.Spec.Completions, s.Job.Spec.Parallelism = ptr(int32(2*n)), ptr[int32](1)
	s.Job.Status.CompletedIndexes = everySecond(n, 1)
	s.Job.Status.Succeeded = int32(n)
	s.Pods[0].Phase, s.Pods[0].Ready = job.PodSucceeded, false
	return s
}

func pendingTooLong(n int) job.Snapshot {
	s := steady(n, true)
	for i := range s.Pods {
		s.Pods[i].Phase, s.Pods[i].Ready, s.Pods[i].Assigned = job.PodPending, false, false
	}
	s.Options.PendingTimeout = time.Minute
	s.Now = world.Start.Add(time.Hour)
	return s
}

// indexesInBackoff returns a job with a failed pod for each index, all of which must wait.
func indexesInBackoff(n int) job.Snapshot {
	s := steady(n, true)
	s.Job.Spec.BackoffLimitPerIndex, s.Job.Spec.BackoffLimit = ptr[int32](9), ptr[int32](1<<30)
	for i := range s.Pods {
		s.Pods[i].Phase, s.Pods[i].Ready = job.PodFailed, false
		s.Pods[i].Detail.Containers = []jobpod.Container{{Name: "main", State: jobpod.Terminated, ExitCode: 1,
			FinishedAt: world.Start}}
	}
	return s
}

func adopted(n int) job.Snapshot {
	s := steady(n, false)
	for i := range s.Pods {
		s.Pods[i].Owner = jobpod.Orphan
	}
	return s
}

// wholeRound plans, lets every write succeed, and concludes.
func wholeRound(tb testing.TB, p *job.Planner, s *job.Snapshot) job.Conclusion {
	plan, err := p.Reconcile(s)
	if err != nil {
		tb.Fatal(err)
	}
	o := job.Outcome{Writes: job.Writes{Claimed: job.Reply{Result: jobreason.ResultDone}}}
	for i := range plan.Delete {
		o.Deleted = append(o.Deleted, job.Effect{Result: jobreason.ResultDone, Pod: plan.Delete[i].PodRef})
	}
	for i := range plan.Create {
		o.Created = append(o.Created,
			job.Effect{Result: jobreason.ResultDone, Pod: job.PodRef{Name: "new", UID: job.UID(fmt.Sprint("new-", i))}})
	}
	o.Recorded = job.Reply{Result: jobreason.ResultDone}
	for range plan.Record(o.Writes).Untrack {
		o.Untracked = append(o.Untracked, job.Reply{Result: jobreason.ResultDone})
	}
	o.Settled = job.Reply{Result: jobreason.ResultDone}
	return plan.Conclude(o)
}

// BenchmarkScale measures a whole round with many objects, for each of the dimensions.
func BenchmarkScale(b *testing.B) {
	for _, d := range dimensions {
		for _, n := range []int{1_000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s=%d", d.name, n), func(b *testing.B) {
				s := d.snapshot(n)
				var p job.Planner
				b.ReportAllocs()
				for b.Loop() {
					wholeRound(b, &p, &s)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/one")
			})
		}
	}
}

// TestMemoryGrowsInProportion compares the bytes that a round allocates for a snapshot with 2 000
// objects and for one with 16 000, for each of the dimensions. The larger round may allocate about
// eight times as many bytes, not sixty-four times.
func TestMemoryGrowsInProportion(t *testing.T) {
	for _, d := range dimensions {
		few, many := d.snapshot(2_000), d.snapshot(16_000)
		a, b := allocated(func() { wholeRound(t, new(job.Planner), &few) }),
			allocated(func() { wholeRound(t, new(job.Planner), &many) })
		if b > 16*a+1<<16 {
			t.Errorf("%s: a round of 2 000 allocates %d bytes, one of 16 000 allocates %d", d.name, a, b)
		}
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
