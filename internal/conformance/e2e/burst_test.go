package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// testBurst: many jobs at once, and one with many indexes. The flags say how many.
func testBurst(t *testing.T, c *cluster) {
	p := c.newPlace(t)
	p.start(p.config())
	began := time.Now()
	for i := range *burstJobs {
		p.create(jobOf(fmt.Sprintf("burst-%d", i), "0", indexed(int32(*burstPods))))
	}
	p.create(jobOf("array", "0", with(indexed(int32(*burstIndexes)), func(s *batchv1.JobSpec) {
		s.Parallelism = pointTo(min(int32(*burstIndexes), 1000))
	})))
	t.Logf("%d jobs were created after %v", *burstJobs+1, time.Since(began).Round(time.Millisecond))
	deadline := began.Add(patience + time.Duration(*burstJobs**burstPods+*burstIndexes)*50*time.Millisecond)
	p.untilBy(deadline, "the end of all jobs", func() bool {
		list, err := p.BatchV1().Jobs(p.namespace).List(t.Context(), metav1.ListOptions{})
		return err == nil && !slices.ContainsFunc(list.Items, func(j batchv1.Job) bool { return ended(&j) == nil })
	})
	t.Logf("all have ended after %v", time.Since(began).Round(time.Millisecond))
	for i := range *burstJobs {
		p.awaitSuccess(fmt.Sprintf("burst-%d", i), int32(*burstPods), 0)
	}
	p.awaitSuccess("array", int32(*burstIndexes), 0)
}
