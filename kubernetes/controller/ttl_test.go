//go:build go1.25

package controller_test

import (
	"slices"
	"sync/atomic"
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
	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/kubernetes/controller"
	"github.com/batchplan/batchplan/kubernetes/metrics"
)

// TestTTL: a job is deleted when its time to live is over, unless another controller manages
// it, or the server knows that it lives longer.
func TestTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finished := func(name string, managedBy *string, seconds *int32) *batchv1.Job {
			j := newJob(name, managedBy)
			j.Spec.TTLSecondsAfterFinished = seconds
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
			return j
		}
		ttl := func(client kubernetes.Interface, factory informers.SharedInformerFactory) ([]starter, error) {
			c, err := controller.NewTTL(client, factory, controller.TTLOptions{ManagedBy: mine})
			return []starter{c}, err
		}
		unknown := finished("unknown", pointTo(mine), pointTo[int32](10))
		unknown.Status.Conditions[0].LastTransitionTime = metav1.Time{}
		c := start(t, ttl, finished("short", pointTo(mine), pointTo[int32](10)), finished("long", pointTo(mine), pointTo[int32](1000)),
			finished("never", pointTo(mine), nil), finished("others", nil, pointTo[int32](10)), newJob("runs", pointTo(mine)), unknown)
		defer c.stop()
		c.rest(9 * time.Second)
		if got := c.jobs(); len(got) != 6 {
			t.Errorf("too early: %v", got)
		}
		c.rest(2 * time.Second)
		if got, want := c.jobs(), []string{"long", "never", "others", "runs", "unknown"}; !slices.Equal(got, want) {
			t.Errorf("jobs %v, want %v", got, want)
		}
	})
}

// TestT4_FreshLook: the cache is behind, and the server says that the job lives longer.
func TestT4_FreshLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob("j", nil)
		j.Spec.TTLSecondsAfterFinished = pointTo[int32](10)
		j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
		var prolonged atomic.Bool
		c := start(t, func(client kubernetes.Interface, factory informers.SharedInformerFactory) ([]starter, error) {
			ttl, err := controller.NewTTL(client, factory, controller.TTLOptions{Look: func(_ *job.Job, _ time.Time, fresh, expired bool, _ time.Time) {
				if expired && !fresh && prolonged.CompareAndSwap(false, true) { // a user gives the job more time
					j := j.DeepCopy()
					j.Spec.TTLSecondsAfterFinished = pointTo[int32](60)
					if _, err := client.BatchV1().Jobs("ns").Update(t.Context(), j, metav1.UpdateOptions{}); err != nil {
						t.Error(err)
					}
				}
			}})
			return []starter{ttl}, err
		}, j)
		defer c.stop()
		c.rest(30 * time.Second)
		if got := c.jobs(); len(got) != 1 || !prolonged.Load() {
			t.Errorf("jobs %v", got)
		}
		c.rest(31 * time.Second)
		if got := c.jobs(); len(got) != 0 {
			t.Errorf("jobs %v", got)
		}
	})
}

// lateness notes how late jobs were deleted.
type lateness struct{ all []time.Duration }

func (l *lateness) Expired(late time.Duration) { l.all = append(l.all, late) }

// TestTTL_Failures: a look at the server or a deletion that fails is repeated, and a job counts as
// deleted once.
func TestTTL_Failures(t *testing.T) {
	for _, verb := range []string{"get", "delete"} {
		t.Run(verb, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := newJob("j", nil)
				j.Spec.TTLSecondsAfterFinished = pointTo[int32](10)
				j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
				var failed atomic.Bool
				var metrics lateness
				c := start(t, func(client kubernetes.Interface, factory informers.SharedInformerFactory) ([]starter, error) {
					client.(*fake.Clientset).PrependReactor(verb, "jobs", func(clienttesting.Action) (bool, runtime.Object, error) {
						if failed.CompareAndSwap(false, true) {
							return true, nil, apierrors.NewServiceUnavailable("not now")
						}
						return false, nil, nil
					})
					ttl, err := controller.NewTTL(client, factory, controller.TTLOptions{Common: controller.Common{Workers: 1}, Metrics: &metrics})
					return []starter{ttl}, err
				}, j)
				defer c.stop()
				c.rest(20 * time.Second)
				if got := c.jobs(); len(got) != 0 || !failed.Load() || len(metrics.all) != 1 {
					t.Errorf("failed %t, jobs %v, metrics %v", failed.Load(), got, metrics.all)
				}
			})
		})
	}
}

// added counts what is added to a queue.
type added struct {
	*metrics.Metrics
	queue string
	n     atomic.Int32
}

func (a *added) Inc() { a.n.Add(1) }

func (a *added) NewAddsMetric(queue string) workqueue.CounterMetric {
	a.queue = queue
	return a
}

// TestTTL_OfANamespace: the finished jobs of a namespace that a replica takes over are looked at, and of no other.
func TestTTL_OfANamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob("j", nil)
		j.Spec.TTLSecondsAfterFinished = pointTo[int32](10)
		j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
		var mineNow atomic.Bool
		var looks atomic.Int32
		measured := added{Metrics: metrics.New()}
		var ttl *controller.Controller[types.NamespacedName]
		c := start(t, func(client kubernetes.Interface, factory informers.SharedInformerFactory) (_ []starter, err error) {
			ttl, err = controller.NewTTL(client, factory, controller.TTLOptions{
				Common: controller.Common{Workers: 1, Namespace: func(string) bool { return mineNow.Load() }, QueueMetrics: &measured},
				Look:   func(*job.Job, time.Time, bool, bool, time.Time) { looks.Add(1) },
			})
			return []starter{ttl}, err
		}, j, newJob("runs", nil))
		defer c.rest(time.Second) // the queue measures until then
		defer c.stop()
		c.rest(time.Minute)
		mineNow.Store(true)
		ttl.Enqueue(func(namespace string) bool { return namespace != "ns" })
		c.rest(time.Second)
		if looks.Load() != 0 {
			t.Fatal("a job of another namespace was looked at")
		}
		ttl.Enqueue(func(namespace string) bool { return namespace == "ns" })
		c.rest(time.Second)
		if got := c.jobs(); len(got) != 1 || got[0] != "runs" {
			t.Errorf("jobs %v", got)
		}
		if n := measured.n.Load(); n != 1 || measured.queue != "ttl" {
			t.Errorf("the queue %q got %d keys, want that of the finished job", measured.queue, n)
		}
	})
}

// TestTTL_Clock: rounds and the queue go by the clock of the options.
func TestTTL_Clock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob("j", nil)
		complete(j, 0)
		j.Spec.TTLSecondsAfterFinished = pointTo[int32](10)
		clock := testingclock.NewFakeClock(time.Now())
		c := start(t, func(client kubernetes.Interface, factory informers.SharedInformerFactory) ([]starter, error) {
			ttl, err := controller.NewTTL(client, factory, controller.TTLOptions{Common: controller.Common{Clock: clock}})
			return []starter{ttl}, err
		}, j)
		defer c.stop()
		c.rest(55 * time.Second)
		if got := c.jobs(); len(got) != 1 {
			t.Errorf("too early: %v", got)
		}
		clock.Step(10 * time.Second)
		c.rest(time.Second)
		if got := c.jobs(); len(got) != 0 {
			t.Errorf("jobs %v", got)
		}
	})
}

// TestTTL_UnknownEnd: the server has a job whose end nobody knows, and the cache does not show that yet.
func TestTTL_UnknownEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fresh := newJob("j", nil)
		fresh.Spec.TTLSecondsAfterFinished = pointTo[int32](0)
		cached := fresh.DeepCopy()
		complete(cached, 0)
		complete(fresh, 0)
		fresh.Status.Conditions[0].LastTransitionTime = metav1.Time{}
		client := fake.NewClientset(fresh)
		jobs := informers.NewSharedInformerFactory(client, resync).Batch().V1().Jobs().Informer()
		must.OK(t, jobs.GetIndexer().Add(cached))
		c, err := controller.NewTTLReconciler(controller.BatchJobs(client), jobs, controller.TTLOptions{})
		must.OK(t, err)
		next, err := c.Reconcile(t.Context(), types.NamespacedName{Namespace: "ns", Name: "j"})
		if got := calls(client); err == nil || !next.IsZero() || got != "get jobs j" {
			t.Errorf("calls %q, again at %s, %v", got, next, err)
		}
	})
}

// TestTTL_Calls: what one round asks of the server, and how it deletes.
func TestTTL_Calls(t *testing.T) {
	finished := newJob("j", nil)
	finished.Spec.TTLSecondsAfterFinished = pointTo[int32](10)
	of := func(change func(*batchv1.Job)) *batchv1.Job {
		j := finished.DeepCopy()
		change(j)
		return j
	}
	for _, test := range []struct {
		name          string
		options       controller.TTLOptions
		cached, fresh *batchv1.Job
		calls         string
		next          time.Duration // after the end
	}{
		{"it has expired", controller.TTLOptions{}, finished, finished, "get jobs j, delete jobs j", 0},
		{"it expires later", controller.TTLOptions{}, of(func(j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = pointTo[int32](30) }), finished, "", 30 * time.Second},
		{"the server says that it expires later", controller.TTLOptions{}, finished, of(func(j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = pointTo[int32](30) }), "get jobs j", 30 * time.Second},
		{"the options say that it expires later", controller.TTLOptions{Planner: job.Options{TTLSecondsAfterComplete: pointTo[int32](30)}}, finished, finished, "", 30 * time.Second},
		{"the server has another one that runs", controller.TTLOptions{}, finished, newJob("j", nil), "get jobs j", 0},
		{"it is gone", controller.TTLOptions{}, finished, nil, "get jobs j", 0},
		{"it is not in the cache", controller.TTLOptions{}, nil, finished, "", 0},
		{"it has another controller", controller.TTLOptions{ManagedBy: mine}, finished, finished, "", 0},
		{"it has the built-in controller", controller.TTLOptions{ManagedBy: job.ControllerName}, finished, finished, "get jobs j, delete jobs j", 0},
		{"it is another replica's", controller.TTLOptions{Common: controller.Common{Namespace: func(string) bool { return false }}}, finished, finished, "", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := fake.NewClientset()
			jobs := informers.NewSharedInformerFactory(client, resync).Batch().V1().Jobs().Informer()
			end := time.Now()
			put := func(j *batchv1.Job, add func(*batchv1.Job) error) {
				if j != nil {
					if j = j.DeepCopy(); j.Spec.TTLSecondsAfterFinished != nil {
						complete(j, 0)
					}
					must.OK(t, add(j))
				}
			}
			put(test.cached, func(j *batchv1.Job) error { return jobs.GetIndexer().Add(j) })
			put(test.fresh, func(j *batchv1.Job) error { return client.Tracker().Add(j) })
			var metrics lateness
			var log []string
			test.options.Look = func(_ *job.Job, _ time.Time, fresh, _ bool, _ time.Time) {
				if asked := len(client.Actions()) > 0; fresh != asked {
					t.Errorf("%s: a look at the server is %t, want %t", test.name, fresh, asked)
				}
			}
			events := record.NewFakeRecorder(9)
			test.options.Metrics, test.options.Events = &metrics, events
			c, err := controller.NewTTLReconciler(controller.BatchJobs(client), jobs, test.options)
			must.OK(t, err)
			var how *metav1.DeleteOptions
			client.PrependReactor("delete", "jobs", func(a clienttesting.Action) (bool, runtime.Object, error) {
				how = pointTo(a.(clienttesting.DeleteActionImpl).DeleteOptions)
				return false, nil, nil
			})
			time.Sleep(15 * time.Second)
			next, err := c.Reconcile(logged(t, &log), types.NamespacedName{Namespace: "ns", Name: "j"})
			if got := calls(client); err != nil || got != test.calls {
				t.Errorf("%s: calls %q, want %q, %v", test.name, got, test.calls, err)
			}
			if want := end.Add(test.next); next != (time.Time{}) && !next.Equal(want) || next.IsZero() != (test.next == 0) {
				t.Errorf("%s: again at %s, want %s", test.name, next, want)
			}
			deleted := how != nil
			if deleted && (*how.PropagationPolicy != metav1.DeletePropagationForeground || *how.Preconditions.UID != finished.UID) {
				t.Errorf("%s: deleted with %+v", test.name, how)
			}
			if (len(log) == 1) != deleted || slices.Equal(metrics.all, []time.Duration{5 * time.Second}) != deleted || toldBy(events) != "" {
				t.Errorf("%s: log %q, metrics %v", test.name, log, metrics.all)
			}
		})
	}
}
