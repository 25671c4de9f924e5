//go:build go1.25

package controller_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

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

// TestJ41_Failures: each failure is reported, even if its text reads like the event of a pod.
func TestJ41_Failures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, created := newJob("j", pointTo(mine)), 0
		j.Spec.Parallelism, j.Spec.Completions = pointTo[int32](3), pointTo[int32](3)
		d := newJobDesk(t, controller.JobOptions{MergeEvents: true, Parallel: 1}, j)
		number(d.client)
		d.client.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			created++
			return created > 1, nil, errors.New("no pod: quota")
		})
		_, _ = d.round("j")
		const failed = "Warning FailedCreate Error creating: no pod: quota"
		if got, want := toldBy(d.reported), "Normal SuccessfulCreate Created pod: j-1, "+failed+", "+failed; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// TestJ41_MergedNames: how many pods an event names, and that failures are reported one by one.
func TestJ41_MergedNames(t *testing.T) {
	names := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprint("j-", i+1))
		}
		return strings.Join(all, ", ")
	}
	for _, test := range []struct {
		pods  int32
		fails error
		want  string
	}{
		{1, nil, "Normal SuccessfulCreate Created pod: j-1"},
		{2, nil, "Normal SuccessfulCreate Created 2 pods: " + names(2)},
		{20, nil, "Normal SuccessfulCreate Created 20 pods: " + names(20)},
		{21, nil, "Normal SuccessfulCreate Created 21 pods: " + names(20) + ", and 1 more"},
		{22, nil, "Normal SuccessfulCreate Created 22 pods: " + names(20) + ", and 2 more"},
		{1, errors.New("no pod: quota"), "Warning FailedCreate Error creating: no pod: quota"},
	} {
		synctest.Test(t, func(t *testing.T) {
			j := newJob("j", pointTo(mine))
			j.Spec.Parallelism, j.Spec.Completions = &test.pods, &test.pods
			d := newJobDesk(t, controller.JobOptions{MergeEvents: true, Parallel: 1}, j)
			number(d.client)
			if test.fails != nil {
				refuse(d.client, "create", "pods", test.fails)
			}
			_, _ = d.round("j")
			if got := toldBy(d.reported); got != test.want {
				t.Errorf("%d pods: %s, want %s", test.pods, got, test.want)
			}
		})
	}
}
