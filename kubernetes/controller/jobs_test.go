//go:build go1.25

package controller_test

import (
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
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/kubernetes/controller"
	"github.com/batchplan/batchplan/kubernetes/convert"
)

// TestJobs_Life: a job from its creation to its end, with a failure in between.
func TestJobs_Life(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := record.NewFakeRecorder(100)
		c := start(t, jobsAndOrphans(controller.JobOptions{ManagedBy: mine, Common: controller.Common{Events: events}}), newJob("j", pointTo(mine)))
		defer c.stop()
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
		if pods := c.pods(); convert.IsTracked(&pods[1]) {
			t.Error("the finalizer is left")
		}
		var told []string
		for len(events.Events) > 0 {
			told = append(told, <-events.Events)
		}
		if len(told) != 3 || !slices.Contains(told, "Normal Completed Job completed") {
			t.Errorf("events %q", told)
		}
	})
}

// TestJobs_LogOfWarnings: a warning is logged, unless the round is repeated.
func TestJobs_LogOfWarnings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log []string
		j := newJob("j", pointTo(mine))
		j.Spec.BackoffLimit = pointTo[int32](0)
		c := startIn(logged(t, &log), t, jobsAndOrphans(controller.JobOptions{ManagedBy: mine}), j)
		defer c.stop()
		c.rest(2 * time.Second)
		c.end(c.pods()[0], corev1.PodFailed)
		c.rest(5 * time.Second)
		const want = `"level"=0 "msg"="warning" "object"={"name"="j" "namespace"="ns"} "reason"="BackoffLimitExceeded" "message"="Job has reached the specified backoff limit"`
		if !slices.Contains(log, want) {
			t.Errorf("log\n%s, want\n%s", strings.Join(log, "\n"), want)
		}
	})
}

// TestJobs_ManagedBy: a controller takes the jobs of its name and no others.
func TestJobs_ManagedBy(t *testing.T) {
	builtIn := job.ControllerName
	for _, test := range []struct{ name, want string }{{mine, "mine"}, {builtIn, "builtin,default"}, {"example.com/nobody", ""}} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t, jobsAndOrphans(controller.JobOptions{ManagedBy: test.name}),
					newJob("mine", pointTo(mine)), newJob("builtin", &builtIn), newJob("default", nil))
				defer c.stop()
				c.rest(2 * time.Second)
				got := ""
				var names []string
				for _, p := range c.pods() {
					names = append(names, p.Labels["job"])
				}
				slices.Sort(names)
				for i, name := range names {
					if i > 0 {
						got += ","
					}
					got += name
				}
				if got != test.want {
					t.Errorf("pods of %q, want %q", got, test.want)
				}
			})
		})
	}
	if _, err := controller.NewJobs(fake.NewClientset(), informers.NewSharedInformerFactory(fake.NewClientset(), 0), controller.JobOptions{}); err == nil {
		t.Error("ManagedBy is not required")
	}
}

// TestJ36_Orphans: finalizers of pods whose job is gone or has ended, while a pod of a job that
// another controller manages keeps it.
func TestJ36_Orphans(t *testing.T) {
	yes := true
	pod := func(name string, j *batchv1.Job) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "ns", UID: types.UID("uid-of-" + name), Finalizers: []string{job.Finalizer},
		}}
		if j != nil {
			p.Labels = j.Spec.Template.Labels
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: j.Name, UID: j.UID, Controller: &yes}}
		}
		return p
	}
	leaving := func(p *corev1.Pod) *corev1.Pod {
		p.DeletionTimestamp = pointTo(metav1.Now())
		return p
	}
	synctest.Test(t, func(t *testing.T) {
		ended, foreign := newJob("ended", pointTo(mine)), newJob("foreign", nil)
		for _, j := range []*batchv1.Job{ended, foreign} {
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		}
		c := start(t, jobsAndOrphans(controller.JobOptions{ManagedBy: mine}), ended, foreign,
			pod("nobodys", nil), leaving(pod("of-gone", newJob("gone", nil))),
			leaving(pod("of-ended", ended)), leaving(pod("of-foreign", foreign)))
		defer c.stop()
		c.rest(5 * time.Second)
		for _, p := range c.pods() {
			if got, want := convert.IsTracked(&p), p.Name == "of-foreign"; got != want {
				t.Errorf("pod %s: finalizer %v, want %v", p.Name, got, want)
			}
		}
	})
}

// stored counts the memories that are kept.
type stored map[types.NamespacedName]job.Memory

func (s stored) Get(key types.NamespacedName) job.Memory    { return s[key] }
func (s stored) Set(key types.NamespacedName, m job.Memory) { s[key] = m }
func (s stored) Delete(key types.NamespacedName)            { delete(s, key) }

// TestJobs_Memories: a controller that starts with the memory of the last one keeps the
// backoff, and drops the memory of a job that is gone.
func TestJobs_Memories(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memories, key := stored{}, types.NamespacedName{Namespace: "ns", Name: "j"}
		o := controller.JobOptions{ManagedBy: mine, Common: controller.Common{Workers: 1}, Memories: memories}
		c := start(t, jobsAndOrphans(o), newJob("j", pointTo(mine)))
		c.rest(2 * time.Second)
		c.end(c.pods()[0], corev1.PodFailed)
		c.rest(3 * time.Second)
		c.stop()
		objects := []runtime.Object{c.job("j"), &c.pods()[0]}

		c = start(t, jobsAndOrphans(o), objects...)
		defer c.stop()
		c.rest(2 * time.Second)
		if n := len(c.pods()); n != 1 {
			t.Errorf("%d pods: the backoff was forgotten", n)
		}
		c.rest(10 * time.Second)
		if n := len(c.pods()); n != 2 {
			t.Errorf("%d pods after the backoff", n)
		}
		if memories[key].JobUID == "" {
			t.Error("nothing is remembered")
		}
		if err := c.BatchV1().Jobs("ns").Delete(t.Context(), "j", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.rest(2 * time.Second)
		if len(memories) > 0 {
			t.Errorf("memories of %v are left", memories)
		}
	})
}

// TestJobs_MemoryAnnotation: a controller that starts without the memory of the last one finds
// the backoff in the job's annotation, which it writes once for each failure.
func TestJobs_MemoryAnnotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const annotation = "example.com/memory"
		o := controller.JobOptions{ManagedBy: mine, MemoryAnnotation: annotation}
		c := start(t, jobsAndOrphans(o), newJob("j", pointTo(mine)))
		c.rest(2 * time.Second)
		if text, found := c.job("j").Annotations[annotation]; found {
			t.Errorf("before a failure the annotation is %s", text)
		}
		c.end(c.pods()[0], corev1.PodFailed)
		c.rest(5 * time.Second)
		c.stop()
		patches := 0
		for _, a := range c.Actions() {
			if a.Matches("patch", "jobs") {
				patches++
			}
		}
		if patches != 1 || c.job("j").Annotations[annotation] == "" {
			t.Errorf("%d patches, annotations %v", patches, c.job("j").Annotations)
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
			again := start(t, jobsAndOrphans(o), j, &pod)
			again.rest(2 * time.Second)
			if n := len(again.pods()); n != test.want {
				t.Errorf("%s: %d pods, want %d", test.name, n, test.want)
			}
			again.stop()
		}
	})
}

// TestJ6_OrphanIsGone: an orphan that is gone when it is to be adopted costs neither an error nor
// a round, and also not the wake-up that the round has planned.
func TestJ6_OrphanIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob("j", pointTo(mine))
		orphan := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "orphan", Namespace: "ns", UID: "uid-of-orphan", Labels: j.Spec.Template.Labels}}
		var rounds []job.Outcome
		var retries int
		o := controller.JobOptions{
			Common: controller.Common{Workers: 1}, ManagedBy: mine,
			Hooks: controller.JobHooks{Round: func(_ *job.Snapshot, p *job.Plan, o job.Outcome) {
				rounds = append(rounds, o)
				if p.Conclude(o).Retry {
					retries++
				}
			}},
		}
		c := start(t, func(client kubernetes.Interface, factory informers.SharedInformerFactory) ([]starter, error) {
			client.(*fake.Clientset).PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
				name := a.(clienttesting.PatchAction).GetName()
				if name != "orphan" {
					return false, nil, nil
				}
				_ = client.(*fake.Clientset).Tracker().Delete(corev1.SchemeGroupVersion.WithResource("pods"), "ns", name)
				return true, nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
			})
			return jobsAndOrphans(o)(client, factory)
		}, j, orphan)
		defer c.stop()
		c.rest(3 * time.Second)
		if pods := c.pods(); len(pods) != 1 || pods[0].Name == "orphan" {
			t.Errorf("pods %v", pods)
		}
		if retries > 0 || rounds[0].Claimed != job.ResultDone || len(rounds[0].Created) != 1 {
			t.Errorf("%d retries, the first round %+v", retries, rounds[0])
		}
	})
}

// TestJobs_BadSelector: a job that no server takes today adopts no pod of others and creates
// none, and is reported. A pod that cannot be told from others is in nobody's way.
func TestJobs_BadSelector(t *testing.T) {
	for name, change := range map[string]func(*batchv1.JobSpec){
		"no selector":  func(s *batchv1.JobSpec) { s.Selector = nil },
		"other labels": func(s *batchv1.JobSpec) { s.Template.Labels = map[string]string{"job": "another"} },
		"operator": func(s *batchv1.JobSpec) {
			s.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "job", Operator: "Near"}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bad := newJob("bad", pointTo(mine))
				change(&bad.Spec)
				stray := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "stray", Namespace: "ns", UID: "uid-of-stray"}}
				nameless := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "without-uid", Namespace: "ns"}}
				events := &eventList{}
				o := controller.JobOptions{Common: controller.Common{Events: events}, ManagedBy: mine}
				c := start(t, jobsAndOrphans(o), bad, stray, nameless, newJob("good", pointTo(mine)))
				defer c.stop()
				c.rest(10 * time.Minute)
				var owners []string
				for _, p := range c.pods() {
					if ref := metav1.GetControllerOf(&p); ref != nil {
						owners = append(owners, ref.Name)
					}
				}
				if !slices.Equal(owners, []string{"good"}) {
					t.Errorf("owners of pods: %v, want good", owners)
				}
				if n := events.count("bad InvalidJob"); n == 0 || n > 20 {
					t.Errorf("%d events in ten minutes: %v", n, events.all)
				}
			})
		})
	}
}
