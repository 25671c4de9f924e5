//go:build go1.25

package controller_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/metrics"
)

// lateness records how late jobs were deleted.
type lateness struct{ all []time.Duration }

func (l *lateness) metrics() controller.TTLMetrics {
	return controller.TTLMetrics{Expired: func(late time.Duration) { l.all = append(l.all, late) }}
}

// expiring returns a job that ends now and expires ten seconds later.
func expiring(name string) *batchv1.Job {
	j := newJob(name, nil)
	j.Spec.TTLSecondsAfterFinished = pointTo[int32](10)
	complete(j, 0)
	return j
}

// TestTTL: a job is deleted when its time to live is over, and a deletion that fails is repeated.
func TestTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, metrics := newCluster(t, expiring("j"), newJob("runs", nil)), lateness{}
		c.refuse("delete", "jobs", apierrors.NewServiceUnavailable("not now"))
		c.startTTL(controller.TTLOptions{Common: controller.Common{Workers: 1}, Metrics: metrics.metrics()})
		c.rest(9 * time.Second)
		if got := c.jobs(); len(got) != 2 {
			t.Errorf("too early: %v", got)
		}
		c.rest(2 * time.Second)
		if got := c.jobs(); !slices.Equal(got, []string{"runs"}) || len(metrics.all) != 1 {
			t.Errorf("jobs %v, metrics %v", got, metrics.all)
		}
	})
}

// added counts the keys that are added to a queue.
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

// TestTTL_OfANamespace: when a replica takes over a namespace, it examines the finished jobs of
// this namespace only.
func TestTTL_OfANamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mineNow atomic.Bool
		var looks atomic.Int32
		measured := added{Metrics: metrics.New()}
		c := newCluster(t, expiring("j"), newJob("runs", nil))
		t.Cleanup(func() { time.Sleep(time.Second) }) // the queue updates its metrics until then
		ttl := c.startTTL(controller.TTLOptions{
			Common: controller.Common{Workers: 1, Namespace: func(string) bool { return mineNow.Load() }, QueueMetrics: &measured},
			Hooks:  controller.TTLHooks{Look: func(controller.TTLLook) { looks.Add(1) }},
		})

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

// TestTTL_Clock: rounds and the queue use the clock of the options.
func TestTTL_Clock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := testingclock.NewFakeClock(time.Now())
		c := newCluster(t, expiring("j"))
		look := func(l controller.TTLLook) {
			if !l.Now.Equal(clock.Now()) {
				t.Errorf("a look at %s, the clock shows %s", l.Now, clock.Now())
			}
		}
		c.startTTL(controller.TTLOptions{Common: controller.Common{Clock: clock}, Hooks: controller.TTLHooks{Look: look}})
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

// TestTTL_Calls: the requests of one round, and when the next round is due. The cache may be older
// than the server (T4).
func TestTTL_Calls(t *testing.T) {
	never := func(j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = nil }
	later := func(j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = pointTo[int32](30) }
	runs := func(j *batchv1.Job) { j.Status = batchv1.JobStatus{} }
	unknown := func(j *batchv1.Job) { j.Status.Conditions[0].LastTransitionTime = metav1.Time{} }
	gone := func(j *batchv1.Job) { j.Name = "another" }
	ours := func(j *batchv1.Job) { j.Spec.ManagedBy = pointTo(mine) }
	same := func(*batchv1.Job) {}
	down := errors.New("no reply")
	const noTime = `status.conditions[Complete].lastTransitionTime: "": is required to expire the job`

	for _, test := range []struct {
		name          string
		options       controller.TTLOptions
		cached, fresh func(*batchv1.Job)
		fails         string // the verb that fails
		calls         string
		next          time.Duration // after the end
		err           string
	}{
		{"it has expired", controller.TTLOptions{}, same, same, "", "get jobs j, delete jobs j", 0, ""},
		{"it expires later", controller.TTLOptions{}, later, same, "", "", 30 * time.Second, ""},
		{"it never expires", controller.TTLOptions{}, never, same, "", "", 0, ""},
		{"it runs", controller.TTLOptions{}, runs, same, "", "", 0, ""},
		{"nobody knows when it ended", controller.TTLOptions{}, unknown, same, "", "", 0, noTime},
		{"the server says that it expires later", controller.TTLOptions{}, same, later, "", "get jobs j", 30 * time.Second, ""},
		{"the server does not know when it ended", controller.TTLOptions{}, same, unknown, "", "get jobs j", 0, noTime},
		{"the options say that it expires later", controller.TTLOptions{Planner: job.Options{TTLSecondsAfterComplete: pointTo[int32](30)}}, same, same, "", "", 30 * time.Second, ""},
		{"the server has another one that runs", controller.TTLOptions{}, same, runs, "", "get jobs j", 0, ""},
		{"it is gone", controller.TTLOptions{}, same, gone, "", "get jobs j", 0, ""},
		{"the look at the server fails", controller.TTLOptions{}, same, same, "get", "get jobs j", 0, "no reply"},
		{"the deletion fails", controller.TTLOptions{}, same, same, "delete", "get jobs j, delete jobs j", 0, "no reply"},
		{"it is not in the cache", controller.TTLOptions{}, gone, same, "", "", 0, ""},
		{"it has another controller", controller.TTLOptions{ManagedBy: mine}, same, same, "", "", 0, ""},
		{"it has the built-in controller", controller.TTLOptions{ManagedBy: job.ControllerName}, same, same, "", "get jobs j, delete jobs j", 0, ""},
		{"it is this controller's", controller.TTLOptions{ManagedBy: mine}, ours, ours, "", "get jobs j, delete jobs j", 0, ""},
		{"it is not the built-in controller's", controller.TTLOptions{ManagedBy: job.ControllerName}, ours, ours, "", "", 0, ""},
		{"it is another replica's", controller.TTLOptions{Common: controller.Common{Namespace: func(string) bool { return false }}}, same, same, "", "", 0, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			end, cached, fresh := time.Now(), expiring("j"), expiring("j")
			test.cached(cached)
			test.fresh(fresh)
			c, metrics := newCluster(t, fresh), lateness{}
			must.OK(t, c.jobCache.GetIndexer().Add(cached))

			test.options.Hooks.Look = func(look controller.TTLLook) {
				if asked := len(c.Actions()) > 0; look.Fresh != asked {
					t.Errorf("%s: a look at the server is %t, want %t", test.name, look.Fresh, asked)
				}
			}
			test.options.Metrics, test.options.Events = metrics.metrics(), &c.events
			r, err := controller.NewTTLReconciler(kindOf(controller.BatchJobs(c, nil), c, c.jobCache, nil), test.options)
			must.OK(t, err)

			var how *metav1.DeleteOptions
			c.PrependReactor("delete", "jobs", func(a clienttesting.Action) (bool, runtime.Object, error) {
				how = pointTo(a.(clienttesting.DeleteActionImpl).DeleteOptions)
				return false, nil, nil
			})
			if test.fails != "" {
				c.refuse(test.fails, "jobs", down)
			}

			time.Sleep(15 * time.Second)
			next, err := r.Reconcile(logged(t, &c.log), types.NamespacedName{Namespace: "ns", Name: "j"})
			if got := c.calls(); got != test.calls || (err != nil) != (test.err != "") || err != nil && err.Error() != test.err {
				t.Errorf("%s: calls %q, want %q, %v", test.name, got, test.calls, err)
			}
			if want := end.Add(test.next); next != (time.Time{}) && !next.Equal(want) || next.IsZero() != (test.next == 0) {
				t.Errorf("%s: again at %s, want %s", test.name, next, want)
			}

			deleted, events := how != nil, ""
			if deleted && (*how.PropagationPolicy != metav1.DeletePropagationForeground || *how.Preconditions.UID != fresh.UID) {
				t.Errorf("%s: deleted with %+v", test.name, how)
			}
			if test.err == noTime {
				events = "Warning UnknownExpiry " + noTime
			}
			if (len(c.log) == 1) != (deleted || test.fails == "delete") || slices.Equal(metrics.all, []time.Duration{5 * time.Second}) != deleted || c.events.take() != events {
				t.Errorf("%s: log %q, metrics %v, or not the events %q", test.name, c.log, metrics.all, events)
			}
		})
	}
}
