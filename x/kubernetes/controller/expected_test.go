//go:build go1.25

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// show puts a job and its pod into the caches, without a notification.
func (d *jobDesk) show(j *batchv1.Job, p *corev1.Pod) {
	d.Helper()
	must.OK(d, errors.Join(d.owners.Update(j), d.pods.Update(p)))
}

// TestE6_HeldBack: a round waits until notifications have shown the writes of the one before.
func TestE6_HeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newJobDesk(t, controller.JobOptions{}, newJob("j", pointTo(mine)), newJob("k", pointTo(mine)))
		d.version()
		held := func(by, want string) {
			t.Helper()
			d.told.all = nil
			next, err := d.round("j")
			if fmt.Sprint(err) != want || !next.IsZero() || !slices.Equal(d.told.all, []string{by}) || !controller.IsExpected(err) {
				t.Errorf("%v, again at %s, metrics %q, want %s", err, next, d.told.all, want)
			}
		}
		free := func(what string) {
			t.Helper()
			if _, err := d.round("j"); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		free("first")
		held("pods", `ns/j: the cache of pods is at version "", own writes are at "101"`)
		j, p := d.job("j"), d.pod("j-1")
		d.events.OnAdd(p, false)
		held("jobs.batch", `ns/j: the cache of their owners is at version "", own writes are at "102"`)
		d.jobs.OnUpdate(newJob("j", pointTo(mine)), j)
		d.show(j, p)
		free("all is seen")

		p.Status.Phase = corev1.PodSucceeded
		ended, err := d.CoreV1().Pods("ns").UpdateStatus(t.Context(), p, metav1.UpdateOptions{})
		must.OK(t, err)
		d.events.OnUpdate(p, ended)
		d.show(j, ended)
		free("the pod has ended")
		held("pods", `ns/j: the cache of pods is at version "103", own writes are at "105"`)
		untracked := d.pod("j-1")
		d.events.OnUpdate(ended, untracked)
		must.OK(t, d.pods.Update(untracked)) // newer caches know their version themselves
		held("jobs.batch", `ns/j: the cache of their owners is at version "102", own writes are at "106"`)
		d.jobs.OnDelete(j) // another job has the name now
		j = newJob("j", pointTo(mine))
		j.UID = "another"
		must.OK(t, d.Tracker().Update(batchv1.SchemeGroupVersion.WithResource("jobs"), j, "ns"))
		d.show(j, untracked)
		free("the job is gone")
	})
}

// TestE6_Notifications: after each notification of a pod, the controller knows the version of the
// cache of pods; likewise for jobs.
func TestE6_Notifications(t *testing.T) {
	other := newJob("k", pointTo(mine))
	other.ResourceVersion = "999"
	pod := tracked("of-another", nil)
	pod.ResourceVersion = "999"

	for name, tell := range map[string]func(d *jobDesk){
		"added": func(d *jobDesk) { d.jobs.OnAdd(other, false); d.events.OnAdd(pod, false) },
		"changed": func(d *jobDesk) {
			d.jobs.OnUpdate(newJob("k", nil), other)
			d.events.OnUpdate(tracked("of-another", nil), pod)
		},
		"deleted": func(d *jobDesk) { d.jobs.OnDelete(other); d.events.OnDelete(pod) },
		"nothing": func(*jobDesk) {},
		"Stale":   func(*jobDesk) {},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newJobDesk(t, controller.JobOptions{Stale: name == "Stale"}, newJob("j", pointTo(mine)))
			d.version()
			_, err := d.round("j")
			must.OK(t, err)
			tell(d)
			if _, err := d.round("j"); (err != nil) != (name == "nothing") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestE1_Expected: a round expects the earlier writes that no notification has shown yet (E1, E4).
func TestE1_Expected(t *testing.T) {
	leaving := func(p *corev1.Pod) { p.DeletionTimestamp = pointTo(metav1.Now()) }
	freed := func(p *corev1.Pod) { p.Finalizers = nil }
	same := func(*corev1.Pod) {}

	for _, test := range []struct {
		name     string
		event    string
		change   func(*corev1.Pod)
		expected string // creations, deletions, and pods without the finalizer
	}{
		{"a change", "update", same, "0 1 1"},
		{"it loses the finalizer", "update", freed, "0 1 0"},
		{"it is leaving", "update", leaving, "0 0 1"},
		{"it is leaving without the finalizer", "update", func(p *corev1.Pod) { leaving(p); freed(p) }, "0 0 0"},
		{"it appears while it is leaving", "add", leaving, "0 0 1"},
		{"it appears while it is leaving without the finalizer", "add", func(p *corev1.Pod) { leaving(p); freed(p) }, "0 0 0"},
		{"it is gone", "delete", same, "0 0 0"},
		{"nothing", "", same, "0 1 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got string
				o := controller.JobOptions{Stale: true, Hooks: controller.JobHooks{Round: func(r controller.JobRound) {
					e := r.Snapshot.Memory.Expectations
					got = fmt.Sprint(e.Creations, e.Deletions, r.Snapshot.Memory.Untracking.Len())
				}}}
				d := newJobDesk(t, o, newJob("j", pointTo(mine)))
				round := func() {
					t.Helper()
					_, err := d.round("j")
					must.OK(t, err)
				}
				round()
				j, p := d.job("j"), d.pod("j-1")
				d.events.OnAdd(p, false)
				j.Spec.Suspend = pointTo(true)
				d.show(j, p)
				round()
				cur := p.DeepCopy()
				test.change(cur)
				switch test.event {
				case "add":
					d.events.OnAdd(cur, false)
				case "update":
					d.events.OnUpdate(p, cur)
				case "delete":
					d.events.OnDelete(cur)
				}
				round()
				if got != test.expected {
					t.Errorf("expected %s, want %s", got, test.expected)
				}
			})
		})
	}
}

// TestJobs_Forgets: when a job is gone, or was not served for a time, no round waits for its
// earlier writes.
func TestJobs_Forgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mineNow := true
		var planned []time.Duration
		o := controller.JobOptions{Stale: true, Common: controller.Common{Namespace: func(string) bool { return mineNow }}, Hooks: controller.JobHooks{
			Planned: func(took time.Duration) { planned = append(planned, took) },
		}}

		d := newJobDesk(t, o, newJob("j", pointTo(mine)))
		d.version()
		round := func(want string) {
			t.Helper()
			if _, err := d.round("j"); err != nil || d.calls() != want {
				t.Errorf("%v, want %s", err, want)
			}
		}

		round("create pods, update jobs/status j")
		mineNow = false
		round("")

		mineNow = true
		must.OK(t, d.CoreV1().Pods("ns").Delete(t.Context(), "j-1", metav1.DeleteOptions{}))
		d.calls()
		round("create pods, update jobs/status j")

		if len(planned) != 2 || len(d.told.rounds) != 2 {
			t.Errorf("%d plans, %d rounds", len(planned), len(d.told.rounds))
		}
	})
}

// slow is a clientset that takes a second to create a pod, and counts the creations in progress.
type slow struct {
	kubernetes.Interface
	now, most atomic.Int32
}

type (
	slowCore struct {
		typedcore.CoreV1Interface
		*slow
	}
	slowPods struct {
		typedcore.PodInterface
		*slow
	}
)

func (s *slow) CoreV1() typedcore.CoreV1Interface { return slowCore{s.Interface.CoreV1(), s} }

func (s slowCore) Pods(namespace string) typedcore.PodInterface {
	return slowPods{s.CoreV1Interface.Pods(namespace), s.slow}
}

func (s slowPods) Create(ctx context.Context, pod *corev1.Pod, o metav1.CreateOptions) (*corev1.Pod, error) {
	s.most.Store(max(s.most.Load(), s.now.Add(1)))
	defer s.now.Add(-1)
	time.Sleep(time.Second)
	return s.PodInterface.Create(ctx, pod, o)
}

// TestJobs_Parallel: a round makes no more concurrent writes than the options allow. Creations
// begin with one, then two, then four.
func TestJobs_Parallel(t *testing.T) {
	for parallel, want := range map[int]int32{0: 4, 1: 1, 3: 3} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t)
			s := &slow{Interface: c}
			j := newJob("j", pointTo(mine))
			j.Spec.Parallelism, j.Spec.Completions = pointTo[int32](8), pointTo[int32](8)
			r, err := controller.NewJobReconciler(kindOf(controller.BatchJobs(s, nil), s, c.jobCache, c.podCache), controller.JobOptions{ManagedBy: mine, Parallel: parallel})
			must.OK(t, errors.Join(err, c.jobCache.GetIndexer().Add(j), c.Tracker().Add(j.DeepCopy())))
			_, err = r.Reconcile(logged(t, &c.log), types.NamespacedName{Namespace: "ns", Name: "j"})
			must.OK(t, err)
			if got := s.most.Load(); got != want {
				t.Errorf("Parallel %d: %d at a time, want %d", parallel, got, want)
			}
		})
	}
}
