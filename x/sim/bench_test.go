//go:build unix

package sim

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
)

// study is a world of jobs with twenty pods each, on nodes for eight pods. There is one node for
// twenty jobs.
func study(jobs int, seed uint64) World {
	return World{
		Seed: seed, Nodes: Nodes(max(jobs/20, 1), Node{Pods: 8}),
		Jobs: Jobs(jobs, seed, Between(Exponential(40_000*time.Second/time.Duration(jobs))), Job{
			Name: "job", Spec: Spec(20, 20), Pod: Pod{Duration: LogNormal(5*time.Minute, 0.6), Failure: 0.05},
		}),
	}
}

// oneJob is a world with one job of so many pods, ten thousand at a time.
func oneJob(pods int, seed uint64) World {
	spec, never := Spec(int32(pods), int32(min(pods, 10_000))), int32(1<<31-1)
	spec.BackoffLimit = &never
	return World{Seed: seed, Jobs: Of(Job{
		Name: "job", Spec: spec, Pod: Pod{Duration: LogNormal(5*time.Minute, 0.6), Failure: 0.001},
	})}
}

// fleet is a week of so many CronJobs with everyday schedules: most run once a day.
func fleet(n int, seed uint64) World {
	w := World{Seed: seed, Until: 7 * 24 * time.Hour}
	for i := range n {
		schedule := fmt.Sprintf("%d %d * * *", i%60, i/60%24)
		if i%10 == 0 {
			schedule = fmt.Sprintf("%d */6 * * *", i%60)
		}
		w.CronJobs = append(w.CronJobs, CronJob{
			Name: fmt.Sprintf("cron-%d", i), Spec: cronjob.Spec{Schedule: schedule, ConcurrencyPolicy: cronjob.Forbid},
			Job: Job{Spec: Spec(1, 1), Pod: Pod{Duration: LogNormal(10*time.Minute, 1), Failure: 0.02}},
		})
	}
	return w
}

// processor returns the processor time that this program has used. Other programs on the machine
// affect it less than the elapsed time.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchmark reports the pod events of a world per second of processor time, all goroutines
// included, and the memory that is in use at the end.
func benchmark(b *testing.B, world func(seed uint64) World) {
	var events, pods int64
	seed := uint64(0)
	before := processor()
	var memory runtime.MemStats
	for b.Loop() {
		seed++
		r, err := Run(b.Context(), world(seed))
		must.OK(b, err)
		events += r.PodEvents
		pods += r.PodsCreated
		runtime.ReadMemStats(&memory)
		runtime.KeepAlive(r)
	}
	took := processor() - before
	b.ReportMetric(float64(events)/took.Seconds(), "podevents/cpu-s")
	b.ReportMetric(took.Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric(float64(pods)/float64(b.N), "pods/op")
	b.ReportMetric(float64(memory.HeapSys)/1e6, "heap-MB")
}

func BenchmarkJobs(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			benchmark(b, func(seed uint64) World { return study(n, seed) })
		})
	}
}

// BenchmarkSummary is BenchmarkJobs as compare and sweep run it: without records of single pods.
func BenchmarkSummary(b *testing.B) {
	benchmark(b, func(seed uint64) World {
		w := study(1000, seed)
		w.Summary = true
		return w
	})
}

func BenchmarkOneJob(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			benchmark(b, func(seed uint64) World { return oneJob(n, seed) })
		})
	}
}

func BenchmarkFleet(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("cronjobs=%d", n), func(b *testing.B) {
			benchmark(b, func(seed uint64) World { return fleet(n, seed) })
		})
	}
}
