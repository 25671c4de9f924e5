//go:build go1.25

package controller_test

import (
	"fmt"
	"slices"
	"strings"
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

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/kubernetes/controller"
)

func cronJobs(o controller.CronJobOptions) makers {
	return func(client kubernetes.Interface, factory informers.SharedInformerFactory) ([]starter, error) {
		c, err := controller.NewCronJobs(client, factory, o)
		return []starter{c}, err
	}
}

func newCronJob(name, schedule string, policy batchv1.ConcurrencyPolicy) *batchv1.CronJob {
	three := int32(3)
	return &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "ns", UID: types.UID("uid-of-" + name), CreationTimestamp: metav1.Now(), Generation: 1,
		},
		Spec: batchv1.CronJobSpec{
			Schedule: schedule, ConcurrencyPolicy: policy, Suspend: pointTo(false), SuccessfulJobsHistoryLimit: &three,
			JobTemplate: batchv1.JobTemplateSpec{Spec: newJob("", nil).Spec},
		},
	}
}

// jobs lists the jobs by name.
func (c *cluster) jobs() (names []string) {
	c.Helper()
	list, err := c.BatchV1().Jobs("ns").List(c.Context(), metav1.ListOptions{})
	must.OK(c, err)
	for _, j := range list.Items {
		names = append(names, j.Name)
	}
	slices.Sort(names)
	return names
}

func (c *cluster) finish(name string) {
	c.Helper()
	j := c.job(name)
	now := metav1.Now()
	j.Status.StartTime, j.Status.CompletionTime = &now, &now
	j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: now}}
	if _, err := c.BatchV1().Jobs("ns").UpdateStatus(c.Context(), j, metav1.UpdateOptions{}); err != nil {
		c.Fatal(err)
	}
}

// run is the name of the job that runs n minutes after the time in virtual time at which the
// tests begin.
func run(name string, n int) string {
	return fmt.Sprintf("%s-%d", name, time.Date(2000, 1, 1, 0, n, 0, 0, time.UTC).Unix()/60)
}

// TestCronJobs_Life: a run each minute, one held back by Forbid until the other ends, and
// nothing after the CronJob is gone.
func TestCronJobs_Life(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, cronJobs(controller.CronJobOptions{}), newCronJob("c", "* * * * *", batchv1.ForbidConcurrent))
		defer c.stop()
		c.rest(61 * time.Second)
		if got, want := c.jobs(), []string{run("c", 1)}; !slices.Equal(got, want) {
			t.Fatalf("jobs %v, want %v", got, want)
		}
		c.rest(time.Minute)
		if got := c.jobs(); len(got) != 1 {
			t.Errorf("Forbid has let %v run", got)
		}
		c.finish(run("c", 1))
		c.rest(time.Second)
		if got, want := c.jobs(), []string{run("c", 1), run("c", 2)}; !slices.Equal(got, want) {
			t.Errorf("jobs %v, want %v", got, want)
		}
		status, err := c.BatchV1().CronJobs("ns").Get(t.Context(), "c", metav1.GetOptions{})
		if err != nil || len(status.Status.Active) != 1 || status.Status.Active[0].Name != run("c", 2) || status.Status.LastSuccessfulTime == nil {
			t.Errorf("status %+v, %v", status.Status, err)
		}
		must.OK(t, c.BatchV1().CronJobs("ns").Delete(t.Context(), "c", metav1.DeleteOptions{}))
		c.finish(run("c", 2))
		c.rest(5 * time.Minute)
		if got := c.jobs(); len(got) != 2 {
			t.Errorf("jobs %v of a CronJob that is gone", got)
		}
	})
}

// TestC17_NewSchedule: a new schedule is followed from its next run on.
func TestC17_NewSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, cronJobs(controller.CronJobOptions{}), newCronJob("c", "0 0 1 1 *", batchv1.AllowConcurrent))
		defer c.stop()
		c.rest(90 * time.Second)
		object, err := c.BatchV1().CronJobs("ns").Get(t.Context(), "c", metav1.GetOptions{})
		must.OK(t, err)
		object.Spec.Schedule = "*/5 * * * *"
		if _, err := c.BatchV1().CronJobs("ns").Update(t.Context(), object, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.rest(4 * time.Minute)
		if got, want := c.jobs(), []string{run("c", 5)}; !slices.Equal(got, want) {
			t.Errorf("jobs %v, want %v", got, want)
		}
	})
}

// TestC14_NameOfAnother: the job of another owner holds the name of a run, and stays as it is.
func TestC14_NameOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := newJob(run("c", 1), nil)
		var children []cronjob.Child
		c := start(t, cronJobs(controller.CronJobOptions{Hooks: controller.CronJobHooks{
			Round: func(s *cronjob.Snapshot, _ *cronjob.Plan, _ cronjob.Outcome) { children = slices.Clone(s.Children) },
		}}), newCronJob("c", "* * * * *", batchv1.AllowConcurrent), other, newJob("c", nil), newJob("d-1", nil))
		defer c.stop()
		c.rest(61 * time.Second)
		if len(children) != 1 || !children[0].Foreign || children[0].Name != run("c", 1) {
			t.Errorf("children %+v", children)
		}
		if got := c.jobs(); len(got) != 3 {
			t.Errorf("jobs %v", got)
		}
		if c.job(run("c", 1)).UID != other.UID {
			t.Error("the job of another owner was replaced")
		}
	})
}

// asked are requests in memory.
type asked struct {
	triggers []cronjob.Trigger
	took     []string
}

func (a *asked) Get(types.NamespacedName) ([]cronjob.Trigger, []cronjob.Backfill) {
	return a.triggers, nil
}

func (a *asked) Advance(_ types.NamespacedName, triggered []string, _ []cronjob.Backfill) {
	a.took = append(a.took, triggered...)
	a.triggers = slices.DeleteFunc(a.triggers, func(t cronjob.Trigger) bool { return slices.Contains(triggered, t.ID) })
}

// TestCronJobs_Requests: a trigger starts one job, and is then taken out.
func TestCronJobs_Requests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := &asked{triggers: []cronjob.Trigger{{ID: "now"}}}
		c := start(t, cronJobs(controller.CronJobOptions{Requests: requests}), newCronJob("c", "0 0 1 1 *", batchv1.AllowConcurrent))
		defer c.stop()
		c.rest(time.Minute)
		if got := c.jobs(); len(got) != 1 || !strings.HasPrefix(got[0], "c-") || !slices.Equal(requests.took, []string{"now"}) {
			t.Errorf("jobs %v, triggers taken out %v", got, requests.took)
		}
	})
}

// TestCronJobs_Invalid: a CronJob that the planner refuses is reported, not repeated without
// end, and the others run.
func TestCronJobs_Invalid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newCronJob("bad", "* * * * *", batchv1.AllowConcurrent)
		bad.UID = ""
		events := &eventList{}
		c := start(t, cronJobs(controller.CronJobOptions{Common: controller.Common{Events: events}}), bad, newCronJob("good", "* * * * *", batchv1.AllowConcurrent))
		defer c.stop()
		c.rest(61 * time.Second)
		if got, want := c.jobs(), []string{run("good", 1)}; !slices.Equal(got, want) {
			t.Errorf("jobs %v, want %v", got, want)
		}
		if n := events.count("bad InvalidCronJob"); n == 0 || n > 20 {
			t.Errorf("%d events in a minute: %v", n, events.all)
		}
	})
}

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

// TestTTL_OfANamespace: the finished jobs of a namespace that a replica takes over are looked at, and of no other.
func TestTTL_OfANamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob("j", nil)
		j.Spec.TTLSecondsAfterFinished = pointTo[int32](10)
		j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
		var mineNow atomic.Bool
		var looks atomic.Int32
		var ttl *controller.Controller[types.NamespacedName]
		c := start(t, func(client kubernetes.Interface, factory informers.SharedInformerFactory) (_ []starter, err error) {
			ttl, err = controller.NewTTL(client, factory, controller.TTLOptions{
				Common: controller.Common{Workers: 1, Namespace: func(string) bool { return mineNow.Load() }},
				Look:   func(*job.Job, time.Time, bool, bool, time.Time) { looks.Add(1) },
			})
			return []starter{ttl}, err
		}, j, newJob("runs", nil))
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
	})
}

// TestC17_NewZone: a new zone moves the next run, and so does none.
func TestC17_NewZone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, cronJobs(controller.CronJobOptions{}), newCronJob("c", "0 12 * * *", batchv1.AllowConcurrent))
		defer c.stop()
		for _, tc := range []struct {
			zone *string
			runs []string // until an hour after the first run in the zone
			rest time.Duration
		}{
			{pointTo("Asia/Kolkata"), []string{run("c", 6*60+30)}, 7 * time.Hour},
			{pointTo("Asia/Dubai"), []string{run("c", 6*60+30), run("c", 8*60)}, 2 * time.Hour},
			{nil, []string{run("c", 6*60+30), run("c", 8*60), run("c", 12*60)}, 4 * time.Hour},
		} {
			c.rest(time.Second)
			object, err := c.BatchV1().CronJobs("ns").Get(t.Context(), "c", metav1.GetOptions{})
			must.OK(t, err)
			object.Spec.TimeZone = tc.zone
			if _, err := c.BatchV1().CronJobs("ns").Update(t.Context(), object, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			c.rest(tc.rest)
			if got := c.jobs(); !slices.Equal(got, tc.runs) {
				t.Errorf("jobs %v, want %v", got, tc.runs)
			}
		}
	})
}

// rounds counts the jobs that rounds have created.
type rounds struct{ created int }

func (r *rounds) CronJobRound(m *cronjob.Metrics) { r.created += m.Created }

// TestC16_Metrics: each round tells its figures.
func TestC16_Metrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var metrics rounds
		o := controller.CronJobOptions{Common: controller.Common{Workers: 1}, Metrics: &metrics}
		c := start(t, cronJobs(o), newCronJob("c", "* * * * *", batchv1.AllowConcurrent))
		defer c.stop()
		c.rest(150 * time.Second)
		if got := c.jobs(); len(got) != 2 || metrics.created != 2 {
			t.Errorf("jobs %v, the metrics say %d", got, metrics.created)
		}
	})
}
