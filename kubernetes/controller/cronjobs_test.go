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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/kubernetes/controller"
	"github.com/batchplan/batchplan/schedule"
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
	triggers  []cronjob.Trigger
	backfills []cronjob.Backfill
	took      []string // the IDs, of each call
}

func (a *asked) Get(types.NamespacedName) ([]cronjob.Trigger, []cronjob.Backfill) {
	return a.triggers, a.backfills
}

func (a *asked) Advance(_ types.NamespacedName, triggered []string, backfills []cronjob.Backfill) {
	a.took = append(a.took, strings.Join(triggered, " "))
	for _, b := range backfills {
		a.backfills = slices.DeleteFunc(a.backfills, func(old cronjob.Backfill) bool { return old.ID == b.ID })
		if !b.IsComplete() {
			a.backfills = append(a.backfills, b)
		}
	}
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

// runMemories counts the memories that are kept.
type runMemories map[types.NamespacedName]cronjob.Memory

func (s runMemories) Get(key types.NamespacedName) cronjob.Memory    { return s[key] }
func (s runMemories) Set(key types.NamespacedName, m cronjob.Memory) { s[key] = m }
func (s runMemories) Delete(key types.NamespacedName)                { delete(s, key) }

// TestCronJobs_Mine: a replica leaves the CronJobs of others alone, takes a namespace over when it is told to, and forgets
// what it has lost and what is gone.
func TestCronJobs_Mine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mineNow atomic.Bool
		memories := runMemories{}
		var log []string
		var all *controller.Controller[types.NamespacedName]
		c := startIn(logged(t, &log), t, func(client kubernetes.Interface, factory informers.SharedInformerFactory) (_ []starter, err error) {
			all, err = controller.NewCronJobs(client, factory, controller.CronJobOptions{
				Common:   controller.Common{Workers: 1, Namespace: func(string) bool { return mineNow.Load() }},
				Takes:    func(o controller.Object) bool { return o.GetName() != "theirs" },
				Memories: memories,
			})
			return []starter{all}, err
		}, newCronJob("c", "@every 1m", batchv1.AllowConcurrent), newCronJob("theirs", "@every 1m", batchv1.AllowConcurrent))
		defer c.stop()
		turn := func(on bool, namespace string) {
			mineNow.Store(on)
			all.Enqueue(func(name string) bool { return name == namespace })
			c.rest(time.Second)
		}
		c.rest(30 * time.Second)
		turn(true, "another")
		if len(memories) > 0 {
			t.Errorf("a namespace that was not asked for: memories %v", memories)
		}
		turn(true, "ns")
		c.rest(time.Minute)
		if got, want := c.jobs(), []string{run("c", 1)}; !slices.Equal(got, want) || len(memories) != 1 {
			t.Errorf("jobs %v, want %v, memories %v", got, want, memories)
		}
		turn(false, "ns")
		c.rest(time.Minute)
		if got := c.jobs(); len(got) != 1 || len(memories) > 0 {
			t.Errorf("in a namespace that was lost: jobs %v, memories %v", got, memories)
		}
		turn(true, "ns")
		if got := c.jobs(); len(got) != 2 || len(memories) != 1 {
			t.Errorf("in a namespace that has come back: jobs %v, memories %v", got, memories)
		}
		must.OK(t, c.BatchV1().CronJobs("ns").Delete(t.Context(), "c", metav1.DeleteOptions{}))
		c.rest(3 * time.Minute)
		if got := c.jobs(); len(got) != 2 || len(memories) > 0 {
			t.Errorf("of a CronJob that is gone: jobs %v, memories %v", got, memories)
		}
		for _, line := range log {
			if !strings.HasPrefix(line, `"level"=4 "msg"="decision" "cronJob"={"name"="c" "namespace"="ns"} "decision"="`) {
				t.Errorf("log %s", line)
			}
		}
		if len(log) == 0 {
			t.Error("no decision is logged")
		}
	})
}

// TestCronJobs_NewLife: what was compiled for a CronJob does not serve a later one of the name, nor another zone.
func TestCronJobs_NewLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newCronDesk(t, controller.CronJobOptions{Schedule: []schedule.Option{schedule.WithTimeZone("Asia/Kathmandu")}})
		again := func(o *batchv1.CronJob) string {
			t.Helper()
			must.OK(t, d.cronJobs.Add(o))
			next, err := d.round("c")
			must.OK(t, err)
			return time.Until(next).String()
		}
		o := newCronJob("c", "@every 1h", batchv1.AllowConcurrent)
		got := []string{again(o), again(o)}
		time.Sleep(10 * time.Minute)
		later := newCronJob("c", "@every 1h", batchv1.AllowConcurrent)
		later.UID = "later"
		got = append(got, again(o), again(later))
		later.Spec.Schedule = "0 * * * *"
		got = append(got, again(later))
		later.Spec.TimeZone = pointTo("")
		got = append(got, again(later))
		if want := []string{"1h0m0.1s", "1h0m0.1s", "50m0.1s", "1h0m0.1s", "5m0.1s", "50m0.1s"}; !slices.Equal(got, want) {
			t.Errorf("again in %s, want %s", got, want)
		}
	})
}

// TestCronJobs_CompiledOnce: rounds of one schedule share what was compiled.
func TestCronJobs_CompiledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var zones []*time.Location
		d := newCronDesk(t, controller.CronJobOptions{Hooks: controller.CronJobHooks{
			Round: func(s *cronjob.Snapshot, _ *cronjob.Plan, _ cronjob.Outcome) {
				zones = append(zones, s.Schedule.Location)
			},
		}})
		o := newCronJob("c", "@hourly", batchv1.AllowConcurrent)
		o.Spec.TimeZone = pointTo("Asia/Kathmandu")
		must.OK(t, d.cronJobs.Add(o))
		for range 2 {
			_, err := d.round("c")
			must.OK(t, err)
		}
		if len(zones) != 2 || zones[0] == nil || zones[0] != zones[1] {
			t.Errorf("the zones are %p", zones)
		}
	})
}

// TestCronJobs_TriggerAndBackfill: one round takes out what it has started, and the plans that follow in it know.
func TestCronJobs_TriggerAndBackfill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := &asked{triggers: []cronjob.Trigger{{ID: "now"}}}
		requests.backfills = []cronjob.Backfill{{ID: "old", After: time.Now().Add(-121 * time.Minute), Until: time.Now(), Overlap: cronjob.Allow}}
		d := newCronDesk(t, controller.CronJobOptions{Requests: requests, Planner: cronjob.Options{CatchUp: cronjob.CatchUpAll}})
		must.OK(t, d.cronJobs.Add(newCronJob("c", "@hourly", batchv1.AllowConcurrent)))
		must.OK(t, d.client.Tracker().Add(newCronJob("c", "@hourly", batchv1.AllowConcurrent)))
		time.Sleep(121 * time.Minute)
		_, err := d.round("c")
		must.OK(t, err)
		created := slices.DeleteFunc(strings.Split(calls(d.client), ", "), func(call string) bool { return !strings.HasPrefix(call, "create") })
		want := []string{"create jobs " + run("c", 60), "create jobs c-manual-now", "create jobs " + run("c", -120), "create jobs " + run("c", -60),
			"create jobs " + run("c", 0), "create jobs " + run("c", 120)}
		if !slices.Equal(created, want) || !slices.Equal(requests.took, []string{"now"}) || len(requests.backfills) > 0 {
			t.Errorf("%q, want %q, taken out %q, backfills %v", created, want, requests.took, requests.backfills)
		}
		if _, err := d.round("c"); err != nil || len(requests.took) > 1 {
			t.Errorf("taken out %q, %v", requests.took, err)
		}
	})
}
