//go:build go1.25

package controller_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// TestJ41_MergedEvents: a round reports the pods that it creates in one event with their number. A
// single pod has its usual event. Each failure has an event of its own, even if its text is like
// that of a created pod.
func TestJ41_MergedEvents(t *testing.T) {
	names := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprint("j-", i+1))
		}
		return strings.Join(all, ", ")
	}

	const failed = "Warning FailedCreate Error creating: no pod: quota"

	for _, test := range []struct {
		pods    int32
		allowed int // the other creations fail
		want    string
	}{
		{1, 1, "Normal SuccessfulCreate Created pod: j-1"},
		{2, 2, "Normal SuccessfulCreate Created 2 pods: " + names(2)},
		{20, 20, "Normal SuccessfulCreate Created 20 pods: " + names(20)},
		{21, 21, "Normal SuccessfulCreate Created 21 pods: " + names(20) + ", and 1 more"},
		{22, 22, "Normal SuccessfulCreate Created 22 pods: " + names(20) + ", and 2 more"},
		{1, 0, failed},
		{3, 1, "Normal SuccessfulCreate Created pod: j-1, " + failed + ", " + failed},
	} {
		synctest.Test(t, func(t *testing.T) {
			j, created := newJob("j", pointTo(mine)), 0
			j.Spec.Parallelism, j.Spec.Completions = &test.pods, &test.pods
			d := newJobDesk(t, controller.JobOptions{MergeEvents: true, Parallel: 1}, j)
			d.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				created++
				return created > test.allowed, nil, errors.New("no pod: quota")
			})
			_, _ = d.round("j")
			if got := d.reports.take(); got != test.want {
				t.Errorf("%d pods: %s, want %s", test.pods, got, test.want)
			}
		})
	}
}

// TestJ41_MergedDeletions: the events about the job itself are not merged.
func TestJ41_MergedDeletions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, three := newJob("j", pointTo(mine)), int32(3)
		j.Spec.Parallelism, j.Spec.Completions, j.Spec.Suspend = &three, &three, pointTo(true)
		d := newJobDesk(t, controller.JobOptions{MergeEvents: true, Parallel: 1}, j)
		for _, name := range []string{"a", "b", "c"} {
			d.put(j, name)
		}
		_, err := d.round("j")
		if got, want := d.reports.take(), "Normal SuccessfulDelete Deleted 3 pods: a, b, c, Normal Suspended Job suspended"; got != want || err != nil {
			t.Errorf("%s, want %s, %v", got, want, err)
		}
	})
}

// TestJ41_MergedPlaces: a merged event takes the place of the first of its events.
func TestJ41_MergedPlaces(t *testing.T) {
	var events []job.Event
	for _, e := range []string{"Failed pod: x", "Created pod: a", "Deleted pod: b", "Created pod: c", "Deleted pod: d"} {
		reason, _, _ := strings.Cut(e, " ")
		events = append(events, job.Event{Type: job.EventNormal, Reason: reason, Message: e, PodWrite: reason != "Failed"})
	}
	var got []string
	for _, e := range controller.MergeEvents(events) {
		got = append(got, e.Message)
	}
	if want := []string{"Failed pod: x", "Created 2 pods: a, c", "Deleted 2 pods: b, d"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
