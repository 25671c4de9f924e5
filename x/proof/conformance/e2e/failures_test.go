package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/kubernetes/replica"
)

// testRestarts: the controller is killed before or after each of its writes, and another one
// continues the job.
func testRestarts(t *testing.T, c *cluster) {
	const writes = 12 // at least as many as the job below needs
	for n := range writes {
		for _, arrives := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, arrives %v", n+1, arrives), func(t *testing.T) {
				t.Parallel()

				p := c.newPlace(t)
				var count atomic.Int32
				at := make(chan struct{})

				first := p.start(p.config(), func(r *http.Request, server http.RoundTripper) (*http.Response, error) {
					if !isWrite(r) || isEvent(r) || strings.Contains(r.URL.RawQuery, "dryRun") {
						return server.RoundTrip(r)
					}

					is := count.Add(1) - 1
					if is < int32(n) || is == int32(n) && arrives {
						response, err := server.RoundTrip(r)
						if is < int32(n) || err != nil {
							return response, err
						}
						response.Body.Close()
					}
					if is == int32(n) {
						close(at)
					}
					return nil, errCut
				})

				p.create(jobOf("job", "0,10,0", indexed(3)))
				select {
				case <-at:
				case <-time.After(patience):
					t.Fatalf("only %d writes", count.Load())
				}

				first.kill()
				p.start(p.config())
				p.awaitSuccess("job", 3, 1)
			})
		}
	}
}

// testFaults: one in three of the first requests fails, and every count is right.
func testFaults(t *testing.T, c *cluster) {
	p := c.newPlace(t)
	f := newFaulty(*seed, 100)
	p.start(p.config(), f.between)
	for i := range 6 {
		p.create(jobOf(fmt.Sprintf("indexed-%d", i), "0,10,0,10", indexed(4)))
		p.create(jobOf(fmt.Sprintf("plain-%d", i), "10", func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = pointTo(int32(3)), pointTo(int32(2)) }))
	}
	for i := range 6 {
		p.awaitSuccess(fmt.Sprintf("indexed-%d", i), 4, 2)
		p.awaitSuccess(fmt.Sprintf("plain-%d", i), 3, 1)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, kind := range []string{"conflict", "too many", "internal", "cut before", "cut after"} {
		if f.counts[kind] == 0 {
			t.Errorf("no request had the fault %q", kind)
		}
	}
}

// testLateWatch: all watch events are three seconds late. No pod is created twice, and none is
// counted twice.
func testLateWatch(t *testing.T, c *cluster) {
	p := c.newPlace(t)
	var created atomic.Int32
	p.start(p.config(), lag(3*time.Second), counts(&created, func(r *http.Request) bool {
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pods")
	}))
	p.create(jobOf("indexed", "0,10,0", indexed(3)))
	p.create(jobOf("plain", "10", func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = pointTo(int32(4)), pointTo(int32(2)) }))
	p.awaitSuccess("indexed", 3, 1)
	p.awaitSuccess("plain", 4, 1)
	if n := created.Load(); n != 4+5 {
		t.Errorf("%d pods were created, want 9", n)
	}
}

// testLeaderKilled: one of two replicas works. When that replica is killed, the other takes over.
// When the second stops regularly, a third one takes over immediately.
func testLeaderKilled(t *testing.T, c *cluster) {
	p := c.newPlace(t)
	config := p.config()
	config.Election, config.Lease = true, replica.Lease{Namespace: p.namespace, Duration: 10 * time.Second}

	config.Identity = "first"
	first := p.start(config)
	p.create(jobOf("before", "0", nil))
	p.awaitSuccess("before", 1, 0)
	p.wantLeader("first")

	config.Identity = "second"
	second := p.start(config)
	p.create(jobOf("during", "r0", nil))
	p.await("during", "a running pod", running(1))

	first.kill()
	p.deletePods("job-name=during")
	p.awaitSuccess("during", 1, 1)
	p.wantLeader("second")

	config.Identity = "third"
	p.start(config)
	second.stop()
	p.create(jobOf("after", "0", nil))
	p.awaitSuccess("after", 1, 0)
	p.wantLeader("third")
}

func (p *place) wantLeader(name string) {
	p.Helper()
	lease, err := p.CoordinationV1().Leases(p.namespace).Get(p.Context(), replica.DefaultLeaseName, metav1.GetOptions{})
	must.OK(p, err)
	if holder := lease.Spec.HolderIdentity; holder == nil || !strings.HasPrefix(*holder, name+"-") {
		p.Errorf("%v leads, want %s", holder, name)
	}
}

// testConflictingWriters: other clients write to the job and to its pods all the time.
func testConflictingWriters(t *testing.T, c *cluster) {
	p := c.newPlace(t)
	p.start(p.config())
	p.create(jobOf("job", "0,10,0,r0", indexed(4)))

	ctx, cancel := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	var written atomic.Int32
	for writer := range 2 {
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/writer-%d":"%d"}}}`, writer, i)
				if _, err := p.BatchV1().Jobs(p.namespace).Patch(ctx, "job", "application/merge-patch+json", patch, metav1.PatchOptions{}); err == nil {
					written.Add(1)
				}

				list, err := p.CoreV1().Pods(p.namespace).List(ctx, metav1.ListOptions{})
				if err != nil {
					continue
				}
				for _, pod := range list.Items {
					p.CoreV1().Pods(p.namespace).Patch(ctx, pod.Name, "application/merge-patch+json", patch, metav1.PatchOptions{})
				}
			}
		})
	}

	p.await("job", "three indexes", func(j *batchv1.Job) bool { return j.Status.Succeeded == 3 && running(1)(j) })
	p.until("ten writes of the others", func() bool { return written.Load() >= 10 })
	p.deletePods("batch.kubernetes.io/job-completion-index=3,job-name=job")
	p.awaitSuccess("job", 4, 2)

	cancel()
	writers.Wait()
}

// testNamespaceDeleted: a namespace is deleted while jobs run, and nothing that the controller owns
// keeps the namespace from going.
func testNamespaceDeleted(t *testing.T, c *cluster) {
	p := c.newPlace(t)
	var requests atomic.Int32
	p.start(p.config(), counts(&requests, func(r *http.Request) bool { return !isWatch(r) }))
	p.create(jobOf("running", "r", indexed(3)))
	p.create(jobOf("starting", "p", func(s *batchv1.JobSpec) { s.Parallelism = pointTo(int32(0)) }))
	p.await("running", "three pods", running(3))
	must.OK(t, p.CoreV1().Namespaces().Delete(t.Context(), p.namespace, metav1.DeleteOptions{}))
	// Creations are refused from here on.
	p.change("starting", `{"spec":{"parallelism":2}}`)
	p.deletePods("job-name=running")
	p.until("all pods are gone", func() bool { return len(p.pods("")) == 0 })
	// The namespace controller deletes what is left.
	background := metav1.DeletePropagationBackground
	must.OK(t, p.BatchV1().Jobs(p.namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{PropagationPolicy: &background}, metav1.ListOptions{}))
	p.until("all jobs are gone", func() bool {
		list, err := p.BatchV1().Jobs(p.namespace).List(t.Context(), metav1.ListOptions{})
		return err == nil && len(list.Items) == 0
	})
	if n := requests.Load(); n > 200 {
		t.Errorf("%d requests for two jobs: a hot loop", n)
	}
}

// testServerRestarted: the server stops while jobs run, and starts again.
func testServerRestarted(t *testing.T, c *cluster) {
	p := c.newPlace(t)
	p.start(p.config())
	p.create(jobOf("running", "r", indexed(2)))
	p.await("running", "two pods", running(2))
	p.create(jobOf("retried", "1110", nil))
	began := time.Now()
	c.Stop()
	t.Logf("the server has stopped after %v", time.Since(began).Round(time.Millisecond))
	c.Start(t)
	t.Logf("the server is up again after %v", time.Since(began).Round(time.Millisecond))
	p.deletePods("batch.kubernetes.io/job-completion-index=0,job-name=running")
	p.await("running", "a failure and two pods", func(j *batchv1.Job) bool {
		return j.Status.Failed == 1 && running(2)(j)
	})
	p.awaitSuccess("retried", 1, 3)
	p.create(jobOf("later", "0", nil))
	p.awaitSuccess("later", 1, 0)
}
