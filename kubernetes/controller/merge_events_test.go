//go:build go1.25

package controller_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchplan/batchplan/kubernetes/controller"
)

// TestJ41_MergedEvents: one event about the pods of a round, which says how many they are; an event of a
// single pod and the events of the job are as ever.
func TestJ41_MergedEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, one := newJob("j", pointTo(mine)), newJob("one", pointTo(mine))
		j.Spec.Parallelism, j.Spec.Completions = pointTo[int32](25), pointTo[int32](25)
		events := &eventList{}
		o := controller.JobOptions{ManagedBy: mine, MergeEvents: true, Common: controller.Common{Events: events}}
		c := start(t, jobsAndOrphans(o), j, one)
		defer c.stop()
		c.rest(20 * time.Second)
		for _, p := range c.pods() {
			c.end(p, corev1.PodSucceeded)
		}
		c.rest(20 * time.Second)
		pods := 0
		for _, e := range events.all {
			if !strings.HasPrefix(e, "j SuccessfulCreate Created ") {
				continue
			}
			names, more, _ := strings.Cut(e, ", and ")
			if pods += strings.Count(names, "j-"); more != "" && more != "5 more" {
				t.Errorf("%q", e)
			}
		}
		if n := events.count("j SuccessfulCreate Created "); n == 0 || n > 5 || pods < 20 {
			t.Errorf("%d events name %d pods: %q", n, pods, events.all)
		}
		if events.count("one SuccessfulCreate Created pod: one-") != 1 || strings.Contains(strings.Join(events.all, "\n"), " 1 pods") || events.count("one Completed") != 1 || events.count("j Completed") != 1 {
			t.Errorf("events %q", events.all)
		}
	})
}
