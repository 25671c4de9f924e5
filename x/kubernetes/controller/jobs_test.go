//go:build go1.25

package controller_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// TestJobs_Life: a job from its creation to its end, with a failure in between.
func TestJobs_Life(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, newJob("j", pointTo(mine)))
		c.startJobs(controller.JobOptions{})
		c.rest(2 * time.Second)
		pods := c.pods()
		if len(pods) != 1 || !convert.IsTracked(&pods[0]) {
			t.Fatalf("pods %+v", pods)
		}

		c.end(pods[0], corev1.PodFailed)
		c.rest(5 * time.Second)
		if got := c.job("j").Status; got.Failed != 1 || len(c.pods()) != 1 {
			t.Fatalf("after the failure: %+v, %d pods", got, len(c.pods()))
		}

		c.rest(10 * time.Second) // the backoff
		pods = c.pods()
		if len(pods) != 2 || convert.IsTracked(&pods[0]) {
			t.Fatalf("pods %+v", pods)
		}

		c.end(pods[1], corev1.PodSucceeded)
		c.rest(5 * time.Second)
		if got := c.job("j"); !convert.IsFinished(got) || got.Status.Succeeded != 1 {
			t.Errorf("status %+v", got.Status)
		}
		if convert.IsTracked(c.pod(pods[1].Name)) {
			t.Error("the finalizer is left")
		}
		if len(c.events.all) != 3 || !slices.Contains(c.events.all, "Normal Completed Job completed") {
			t.Errorf("events %q", c.events.all)
		}
	})
}

// TestJobs_ManagedBy: a controller takes only the jobs of its name.
func TestJobs_ManagedBy(t *testing.T) {
	builtIn := job.ControllerName
	for name, want := range map[string]string{mine: "mine", builtIn: "builtin default", "example.com/nobody": ""} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, newJob("mine", pointTo(mine)), newJob("builtin", &builtIn), newJob("default", nil))
			c.startJobs(controller.JobOptions{ManagedBy: name})
			c.rest(2 * time.Second)
			var got []string
			for _, p := range c.pods() {
				got = append(got, p.Labels["job"])
			}
			if slices.Sort(got); strings.Join(got, " ") != want {
				t.Errorf("%s: pods of %q, want %q", name, got, want)
			}
		})
	}
	c := newCluster(t)
	if _, err := controller.NewJobs(controller.BatchJobs(c, c.factory), controller.JobOptions{}); err == nil {
		t.Error("ManagedBy is not required")
	}
}

// TestJ44_GangsNeedGroups: Planner.Gangs without Groups is an error. The conformance tests start
// jobs with groups.
func TestJ44_GangsNeedGroups(t *testing.T) {
	c := newCluster(t)
	o := controller.JobOptions{ManagedBy: mine, Planner: job.Options{Gangs: true}}
	if _, err := controller.NewJobs(controller.BatchJobs(c, c.factory), o); err == nil || !strings.Contains(err.Error(), "needs Groups") {
		t.Errorf("without Groups: %v", err)
	}
	client := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	o.Groups = controller.NewGroups(client, factory)
	_, known := reflect.TypeFor[batchv1.JobSpec]().FieldByName("Scheduling")
	if _, err := controller.NewJobs(controller.BatchJobs(c, c.factory), o); (err == nil) != known || err != nil && !strings.Contains(err.Error(), "k8s.io/api v0.37") {
		t.Errorf("with Groups, the field is known: %t, %v", known, err)
	}

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	factory.Start(ended.Done())
	factory.Shutdown()
	if _, err := controller.NewJobs(controller.BatchJobs(c, c.factory), o); err == nil {
		t.Error("informers that have stopped show no groups, and that is no error")
	}
}

// TestJ34_NamespaceTerminating: a refused creation in a terminating namespace is reported once per
// round. With quirks there is no event, as in Kubernetes.
func TestJ34_NamespaceTerminating(t *testing.T) {
	for _, planner := range []job.Options{{}, job.Kubernetes(release.Newest())} {
		synctest.Test(t, func(t *testing.T) {
			j := newJob("j", pointTo(mine))
			j.Spec.Parallelism, j.Spec.Completions = pointTo[int32](4), pointTo[int32](4)
			c := newCluster(t, j)
			c.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonForbidden,
					Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}}}}
			})

			c.startJobs(controller.JobOptions{Planner: planner})
			c.rest(2 * time.Second)

			text, events := strings.Join(c.log, "\n"), c.events.take()
			rounds, want := strings.Count(text, "create 4 pods"), 0
			if planner.Quirks.IsZero() {
				want = rounds
			}
			const reported = `Warning NamespaceTerminating no Pod is created: the namespace "ns" is being terminated`
			if strings.Count(events, reported) != want || strings.Contains(events, "FailedCreate") {
				t.Errorf("quirks %v: events %q", planner.Quirks, events)
			}
			if rounds == 0 || strings.Count(text, `"reason"="NamespaceTerminating"`) != rounds {
				t.Errorf("quirks %v: log %s", planner.Quirks, text)
			}
		})
	}
}

// storeOf is a store of memories.
type storeOf[M any] map[types.NamespacedName]M

type stored = storeOf[job.Memory]

func (s storeOf[M]) Get(_ context.Context, key types.NamespacedName) (M, error) {
	return s[key], nil
}

func (s storeOf[M]) Set(_ context.Context, key types.NamespacedName, m M) error {
	s[key] = m
	return nil
}

func (s storeOf[M]) Delete(_ context.Context, key types.NamespacedName) error {
	delete(s, key)
	return nil
}

// TestJobs_Memories: a controller that starts with the memories of an earlier one keeps the
// backoff, and drops the memory of a job that is gone.
func TestJobs_Memories(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memories, key := stored{}, types.NamespacedName{Namespace: "ns", Name: "j"}
		o := controller.JobOptions{Common: controller.Common{Workers: 1}, Memories: memories}
		c := newCluster(t, newJob("j", pointTo(mine)))
		c.startJobs(o)
		c.rest(2 * time.Second)
		c.end(c.pods()[0], corev1.PodFailed)
		c.rest(3 * time.Second)
		c.stop()

		c = newCluster(t, c.job("j"), &c.pods()[0])
		c.startJobs(o)
		c.rest(2 * time.Second)
		if n := len(c.pods()); n != 1 {
			t.Errorf("%d pods: the backoff was forgotten", n)
		}
		c.rest(10 * time.Second)
		if n := len(c.pods()); n != 2 || memories[key].JobUID == "" {
			t.Errorf("%d pods after the backoff, memories %v", n, memories)
		}
		must.OK(t, c.BatchV1().Jobs("ns").Delete(t.Context(), "j", metav1.DeleteOptions{}))
		c.rest(2 * time.Second)
		if len(memories) > 0 {
			t.Errorf("memories of %v are left", memories)
		}
	})
}

// TestJobs_MemoryAnnotation: a controller that starts without memories finds the backoff in the
// job's annotation, which is written once per failure.
func TestJobs_MemoryAnnotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const annotation = "example.com/memory"
		o := controller.JobOptions{MemoryAnnotation: annotation}
		c := newCluster(t, newJob("j", pointTo(mine)))
		c.startJobs(o)
		c.rest(2 * time.Second)
		if text, found := c.job("j").Annotations[annotation]; found {
			t.Errorf("before a failure the annotation is %s", text)
		}
		c.end(c.pods()[0], corev1.PodFailed)
		c.rest(5 * time.Second)
		c.stop()
		if n := strings.Count(c.calls(), "patch jobs"); n != 1 || c.job("j").Annotations[annotation] == "" {
			t.Errorf("%d patches, annotations %v", n, c.job("j").Annotations)
		}

		for _, test := range []struct {
			name   string
			change func(*batchv1.Job)
			want   int // pods five seconds after the start
		}{
			{"kept", func(*batchv1.Job) {}, 1},
			{"unreadable", func(j *batchv1.Job) { j.Annotations[annotation] = "{" }, 2},
			{"of another job", func(j *batchv1.Job) { j.UID = "another" }, 2},
		} {
			j, pod := c.job("j"), c.pods()[0]
			test.change(j)
			pod.OwnerReferences[0].UID = j.UID
			again := newCluster(t, j, &pod)
			again.startJobs(o)
			again.rest(2 * time.Second)
			if n := len(again.pods()); n != test.want {
				t.Errorf("%s: %d pods, want %d", test.name, n, test.want)
			}
			again.stop()
		}
	})
}
