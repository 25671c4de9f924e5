//go:build go1.25

package batchtest

import (
	"errors"
	"fmt"
	goruntime "runtime"
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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/kubernetes/internal/memory"
)

// inMemory starts a cluster on a clientset in memory, which accepts requests that a real server
// refuses. x/proof/conformance/e2e has the tests on a real server.
func inMemory(t *testing.T, given ...Option) (*Cluster, *fake.Clientset) {
	t.Helper()
	client := fake.NewSimpleClientset()
	memory.Number(client)
	client.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if a.GetSubresource() != "binding" {
			return false, nil, nil
		}
		binding := a.(clienttesting.CreateAction).GetObject().(*corev1.Binding)
		o, err := client.Tracker().Get(podsResource, binding.Namespace, binding.Name)
		if err != nil {
			return true, nil, err
		}
		pod := o.(*corev1.Pod).DeepCopy()
		pod.Spec.NodeName = binding.Target.Name
		return true, binding, client.Tracker().Update(podsResource, pod, pod.Namespace)
	})
	c, err := startInMemory(t, client, given)
	must.OK(t, err)
	return c, client
}

func startInMemory(t *testing.T, client *fake.Clientset, given []Option) (*Cluster, error) {
	t.Helper()
	o, err := newOptions(given)
	must.OK(t, err)
	o.resync = memory.Resync
	scheme := metadatafake.NewTestScheme()
	must.OK(t, metav1.AddMetaToScheme(scheme))
	return startOn(t, &connection{client, metadatafake.NewSimpleMetadataClient(scheme), func() {}}, o)
}

func newJob(name string, change func(*batchv1.JobSpec)) *batchv1.Job {
	one, six := int32(1), int32(6)
	labels := map[string]string{"job-name": name}
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: batchv1.JobSpec{
			Parallelism: &one, Completions: &one, BackoffLimit: &six, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main"}}},
			},
		},
	}
	if change != nil {
		change(&j.Spec)
	}
	return j
}

// inBubble runs a test in a bubble of synctest. A goroutine left by a cluster would be a deadlock.
func inBubble(t *testing.T, test func(*testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t)
		t.Cleanup(func() { time.Sleep(time.Minute) }) // until timers of client-go have ended
	})
}

func create(t *testing.T, client *fake.Clientset, j *batchv1.Job) {
	t.Helper()
	_, err := client.BatchV1().Jobs(j.Namespace).Create(t.Context(), j, metav1.CreateOptions{})
	must.OK(t, err)
}

func TestCluster(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, client := inMemory(t, Patience(5*time.Minute))
		c.Pods(SucceedAfter(time.Minute))
		c.Pods(FailWith(42), OfJob("train"), Attempt(0))
		create(t, client, newJob("train", nil))
		create(t, client, newJob("other", nil))
		begin := time.Now()
		if s := c.Wait(t, Complete("other")).Status; s.Failed != 0 || time.Since(begin) < time.Minute {
			t.Errorf("other: %+v after %v", s, time.Since(begin))
		}
		if s := c.Wait(t, Complete("default/train")).Status; s.Failed != 1 || s.Succeeded != 1 {
			t.Errorf("train: %+v", s)
		}
	})
}

func TestPod(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, client := inMemory(t)
		c.Pods(Pending())
		create(t, client, newJob("train", func(s *batchv1.JobSpec) { *s.BackoffLimit = 0 }))
		pod := c.Pod("train")
		if got := pod.Object(); got.Spec.NodeName != "" {
			t.Errorf("a node: %+v", got.Spec)
		}
		pod.Ready(true)
		c.Wait(t, ReadyPods("train", 1))
		pod.Fail(137)
		c.Wait(t, FailedFor("train", batchv1.JobReasonBackoffLimitExceeded))
	})
}

// TestKubelet_Appeared: when the kubelet begins the life of a pod, it wakes the waiters. A waiter
// may have seen the pod in the cache before that, and no later write would wake it.
func TestKubelet_Appeared(t *testing.T) {
	informer := informers.NewSharedInformerFactory(fake.NewSimpleClientset(), 0).Core().V1().Pods().Informer()
	k, err := newKubelet(nil, informer, clock.RealClock{}, func(err error) { t.Error(err) })
	must.OK(t, err)
	known := func() (n int, moved <-chan struct{}) {
		moved = k.look(func(lives map[types.UID]*entry) { n = len(lives) })
		return n, moved
	}
	n, moved := known()
	k.appeared(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "train-1", UID: "1"}})
	select {
	case <-moved:
	default:
		t.Error("who waits is not woken")
	}
	if after, _ := known(); n != 0 || after != 1 {
		t.Errorf("%d lives before, %d after", n, after)
	}
}

// fatal is a T that keeps the message of Fatalf or Errorf.
type fatal struct {
	*testing.T
	said string
}

func (f *fatal) Fatalf(format string, args ...any) { f.said = fmt.Sprintf(format, args...) }
func (f *fatal) Errorf(format string, args ...any) { f.said = fmt.Sprintf(format, args...) }

func TestWait_Explains(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, client := inMemory(t, Patience(5*time.Second))
		c.Pods(FailWith(42), Attempt(0))
		create(t, client, newJob("train", nil))
		f := &fatal{T: t}
		c.Wait(f, Complete("train"))
		for _, want := range []string{
			"job default/train is not Complete after 5s", "failed=1", "1 pod wanted, held by backoff until 00:00:10", "main exited with 42",
		} {
			if !strings.Contains(f.said, want) {
				t.Errorf("%q is not in:\n%s", want, f.said)
			}
		}
	})
}

// TestWait_Unserved: waiting for a job, a CronJob or a pod fails immediately if the cluster does
// not serve its namespace.
func TestWait_Unserved(t *testing.T) {
	waits := map[string]func(*Cluster, *fatal, string){
		"job":      func(c *Cluster, f *fatal, namespace string) { c.Wait(f, Complete(namespace+"/train")) },
		"CronJob":  func(c *Cluster, f *fatal, namespace string) { c.WaitRuns(f, namespace+"/train", 1) },
		"a pod":    func(c *Cluster, _ *fatal, namespace string) { c.Pod(namespace + "/train").Object() },
		"its fate": func(c *Cluster, _ *fatal, namespace string) { c.Pod(namespace + "/train").Succeed() },
	}
	for name, wait := range waits {
		inBubble(t, func(t *testing.T) {
			c, client := inMemory(t, Namespace("a"), Patience(time.Hour))
			j := newJob("train", nil)
			j.Namespace = "b"
			create(t, client, j)

			check := func(namespace, want string, after time.Duration) {
				t.Helper()
				f, begun := &fatal{T: t}, time.Now()
				c.t = f
				wait(c, f, namespace)
				if !strings.Contains(f.said, want) || strings.Contains(f.said, "create 1 pod") {
					t.Errorf("%s: %q, want %q", name, f.said, want)
				}
				if waited := time.Since(begun); waited != after {
					t.Errorf("%s: waited %v, want %v", name, waited, after)
				}
			}
			check("b", "the cluster serves only namespace a", 0)
			time.AfterFunc(time.Minute, func() { must.OK(t, c.Stop()) })
			check("a", "the cluster was stopped", time.Minute)
			check("a", "the cluster was stopped", 0)
		})
	}
}

// TestWaitRuns: jobs that the history limits have deleted count. Jobs of an earlier CronJob do not.
func TestWaitRuns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, client := inMemory(t, Patience(time.Hour))
		c.Pods(Succeed())
		cronJobs := client.BatchV1().CronJobs("default")
		make := func(uid types.UID) {
			one := int32(1)
			_, err := cronJobs.Create(t.Context(), &batchv1.CronJob{
				ObjectMeta: metav1.ObjectMeta{Name: "tick", UID: uid, CreationTimestamp: metav1.Now()},
				Spec: batchv1.CronJobSpec{
					Schedule:                   "* * * * *",
					ConcurrencyPolicy:          batchv1.AllowConcurrent,
					SuccessfulJobsHistoryLimit: &one,
					FailedJobsHistoryLimit:     &one,
					JobTemplate:                batchv1.JobTemplateSpec{Spec: newJob("", nil).Spec},
				},
			}, metav1.CreateOptions{})
			must.OK(t, err)
		}

		make("first")
		names := c.WaitRuns(t, "tick", 4)
		if len(names) != 4 || !slices.IsSorted(names) {
			t.Errorf("runs %q", names)
		}
		left, err := client.BatchV1().Jobs("default").List(t.Context(), metav1.ListOptions{})
		must.OK(t, err)
		if len(left.Items) >= 4 {
			t.Errorf("%d jobs are left, so that nothing is shown", len(left.Items))
		}

		must.OK(t, cronJobs.Delete(t.Context(), "tick", metav1.DeleteOptions{}))
		make("second")
		if again := c.WaitRuns(t, "tick", 1); len(again) != 1 || slices.Contains(names, again[0]) {
			t.Errorf("runs of the second CronJob: %q, of the first: %q", again, names)
		}
	})
}

// TestExplain explains a pod that no call of Pods selects, an evicted pod, and a deleted job that
// still has a finalizer.
func TestExplain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, client := inMemory(t)
		c.Pods(Evict(), OfJob("train"), Attempt(0))
		j := newJob("train", nil)
		j.Finalizers = []string{"example.com/keep"}
		create(t, client, j)
		c.Pod("train").Ready(false) // the second one
		has := func(want string) {
			t.Helper()
			if got := c.Explain("train"); !strings.Contains(got, want) {
				t.Errorf("%q is not in:\n%s", want, got)
			}
		}
		has("Failed, Evicted by a disruption: TerminationByKubelet, main exited with 137")

		create(t, client, newJob("other", nil))
		c.Wait(t, ReadyPods("other", 1))
		if got := c.Explain("other"); !strings.Contains(got, "attempt 0, which no call of Pods selects") {
			t.Error(got)
		}

		now := metav1.Now()
		j.DeletionTimestamp = &now
		_, err := client.BatchV1().Jobs("default").Update(t.Context(), j, metav1.UpdateOptions{})
		must.OK(t, err)
		has("it is being deleted since 00:00:")
		has("finalizers: example.com/keep")
	})
}

// TestRelease: the controllers decide as those of the release. Before 1.36, a job keeps its
// startTime when it is suspended.
func TestRelease(t *testing.T) {
	for r, keeps := range map[release.Release]bool{release.V135(): true, release.V136(): false} {
		inBubble(t, func(t *testing.T) {
			c, client := inMemory(t, Release(r))
			create(t, client, newJob("train", nil))
			j := c.Wait(t, ReadyPods("train", 1)).DeepCopy()
			suspend := true
			j.Spec.Suspend = &suspend
			_, err := client.BatchV1().Jobs("default").Update(t.Context(), j, metav1.UpdateOptions{})
			must.OK(t, err)
			if s := c.Wait(t, Suspended("train")).Status; (s.StartTime != nil) != keeps {
				t.Errorf("%v: startTime %v", r, s.StartTime)
			}
		})
	}
}

func forbidden(resource string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("no rule allows it"))
}

// TestRights: if the server refuses a list, the cluster does not start. If it refuses a write, the
// explanation of a wait shows the refusal.
func TestRights(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		client := fake.NewSimpleClientset()
		client.PrependReactor("list", "cronjobs", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, forbidden("cronjobs")
		})
		client.PrependWatchReactor("cronjobs", func(clienttesting.Action) (bool, watch.Interface, error) {
			return true, nil, forbidden("cronjobs")
		})

		_, err := startInMemory(t, client, nil)
		for _, want := range []string{"jobs, CronJobs and pods cannot be listed and watched: ", "cronjobs is forbidden: no rule allows it"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in %v", want, err)
			}
		}
	})

	inBubble(t, func(t *testing.T) {
		c, client := inMemory(t, Patience(5*time.Second))
		client.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, forbidden("pods")
		})
		create(t, client, newJob("train", nil))

		f := &fatal{T: t}
		c.Wait(f, Complete("train"))
		if want := "pods is forbidden: no rule allows it"; !strings.Contains(f.said, want) {
			t.Errorf("%q is not in:\n%s", want, f.said)
		}
	})
}

// TestStop_Events: a round that ends after Stop was called still has a recorder of events.
func TestStop_Events(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, client := inMemory(t)
		stopped := make(chan error, 1)
		client.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
			if a.GetSubresource() == "" {
				go func() { stopped <- c.Stop() }()
				for !c.kubelet.queue.ShuttingDown() {
					goruntime.Gosched() // blocking would hold a lock of the client
				}
			}
			return false, nil, nil
		})
		create(t, client, newJob("train", nil))

		must.OK(t, <-stopped)
		pods, err := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		must.OK(t, err)
		if log := c.log.String(); len(pods.Items) != 1 || strings.Contains(log, "record event") {
			t.Errorf("%d pods, the log:\n%s", len(pods.Items), log)
		}
	})
}

// TestServers: clusters that run at the same time on two servers do not affect each other.
func TestServers(t *testing.T) {
	for _, code := range []int32{0, 1} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				c, client := inMemory(t, Speed(100))
				c.Pods(SucceedAfter(time.Second))
				want := Complete("train")
				if code != 0 {
					c.Pods(FailWith(code))
					want = FailedFor("train", batchv1.JobReasonBackoffLimitExceeded)
				}
				create(t, client, newJob("train", nil))
				c.Wait(t, want)
				if all, err := client.BatchV1().Jobs("").List(t.Context(), metav1.ListOptions{}); err != nil || len(all.Items) != 1 {
					t.Errorf("%v, %d jobs", err, len(all.Items))
				}
			})
		})
	}
}
