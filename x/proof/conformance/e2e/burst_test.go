package e2e

import (
	"fmt"
	"net/http"
	"runtime/metrics"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/internal/must"
)

// testBurst runs many concurrent jobs, and one job with many indexes, as many as the flags ask for.
// It runs alone: its pods would delay the kubelet's work on the pods of other tests.
func testBurst(t *testing.T, c *cluster) {
	p := c.newPlace(t)
	var requests atomic.Int32
	p.start(p.config(), counts(&requests, func(*http.Request) bool { return true }))

	began, used := time.Now(), processorTime(t)
	for i := range *burstJobs {
		p.create(jobOf(fmt.Sprintf("burst-%d", i), "0", indexed(int32(*burstPods))))
	}

	p.create(jobOf("array", "0", with(indexed(int32(*burstIndexes)), func(s *batchv1.JobSpec) {
		s.Parallelism = pointTo(min(int32(*burstIndexes), 1000))
	})))
	t.Logf("%d jobs were created after %v", *burstJobs+1, time.Since(began).Round(time.Millisecond))
	// The total time depends on the machine, so only a standstill is a failure.
	was, moved, heap := -1, time.Now(), uint64(0)
	for {
		heap = max(heap, liveHeap())
		list, err := p.BatchV1().Jobs(p.namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Logf("list: %v", err) // the server is busy; this counts as no progress
			list = &batchv1.JobList{}
		}

		is, ends := 0, 0
		for i := range list.Items {
			is += int(list.Items[i].Status.Succeeded)
			if ended(&list.Items[i]) != nil {
				ends++
			}
		}
		if ends == *burstJobs+1 {
			break
		}

		if is+ends > was {
			was, moved = is+ends, time.Now()
		} else if time.Since(moved) > patience {
			t.Fatalf("%d of %d jobs have ended, with %d pods, and nothing has moved for %v", ends, *burstJobs+1, is, patience)
		}
		time.Sleep(time.Second)
	}

	took := time.Since(began)
	t.Logf("%d jobs with %d pods have ended after %v: %.1f jobs/s, %d requests of the replica; server, etcd, kubelet and replica took %v of "+
		"processor time, and had %d MB on the heap", *burstJobs+1, *burstJobs**burstPods+*burstIndexes, took.Round(time.Millisecond),
		float64(*burstJobs+1)/took.Seconds(), requests.Load(), (processorTime(t) - used).Round(time.Millisecond), heap>>20)
	for i := range *burstJobs {
		p.awaitSuccess(fmt.Sprintf("burst-%d", i), int32(*burstPods), 0)
	}
	p.awaitSuccess("array", int32(*burstIndexes), 0)
}

// processorTime returns the processor time of this process so far.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	must.OK(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// liveHeap returns the bytes that the last garbage collection of this process found alive.
func liveHeap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
