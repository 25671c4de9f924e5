//go:build go1.25

package controller_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/schedule"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

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

// finish makes a job complete.
func (c *cluster) finish(name string) {
	c.Helper()
	j, now := c.job(name), metav1.Now()
	j.Status.StartTime = &now
	complete(j, 0)
	_, err := c.BatchV1().Jobs("ns").UpdateStatus(c.Context(), j, metav1.UpdateOptions{})
	must.OK(c, err)
}

// run returns the name of the job of the run n minutes after the start of the virtual time.
func run(name string, n int) string {
	return fmt.Sprintf("%s-%d", name, time.Date(2000, 1, 1, 0, n, 0, 0, time.UTC).Unix()/60)
}

// TestCronJobs_Life: a run starts each minute. With Forbid, a run waits until the run before has
// ended. Nothing starts after the CronJob is gone. A job has a copy of its template.
func TestCronJobs_Life(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, newCronJob("c", "* * * * *", batchv1.ForbidConcurrent))
		c.startCronJobs(controller.CronJobOptions{})
		c.rest(61 * time.Second)
		if got, want := c.jobs(), []string{run("c", 1)}; !slices.Equal(got, want) {
			t.Fatalf("jobs %v, want %v", got, want)
		}
		if got, want := c.job(run("c", 1)).Spec, newJob("", nil).Spec; !equality.Semantic.DeepEqual(got, want) {
			t.Errorf("the job's spec is %+v, want %+v", got, want)
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
		if s := c.cronJob("c").Status; len(s.Active) != 1 || s.Active[0].Name != run("c", 2) || s.LastSuccessfulTime == nil {
			t.Errorf("status %+v", s)
		}

		must.OK(t, c.BatchV1().CronJobs("ns").Delete(t.Context(), "c", metav1.DeleteOptions{}))
		c.finish(run("c", 2))
		c.rest(5 * time.Minute)
		if got := c.jobs(); len(got) != 2 {
			t.Errorf("jobs %v of a CronJob that is gone", got)
		}
	})
}

// asked holds requests in memory.
type asked struct {
	triggers  []cronjob.Trigger
	backfills []cronjob.Backfill
	took      []string // the IDs of each call
}

func (a *asked) Get(context.Context, types.NamespacedName) (controller.Requested, error) {
	return controller.Requested{Triggers: a.triggers, Backfills: a.backfills}, nil
}

func (a *asked) Advance(_ context.Context, _ types.NamespacedName, to controller.Advance) error {
	a.took = append(a.took, strings.Join(to.Triggered, " "))
	for _, b := range to.Backfills {
		a.backfills = slices.DeleteFunc(a.backfills, func(old cronjob.Backfill) bool { return old.ID == b.ID })
		if !b.IsComplete() {
			a.backfills = append(a.backfills, b)
		}
	}
	a.triggers = slices.DeleteFunc(a.triggers, func(t cronjob.Trigger) bool { return slices.Contains(to.Triggered, t.ID) })
	return nil
}

// TestCronJobs_Invalid: a CronJob that the planner refuses is reported, and does not stop the others.
func TestCronJobs_Invalid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newCronJob("bad", "* * * * *", batchv1.AllowConcurrent)
		bad.UID = ""
		c := newCluster(t, bad, newCronJob("good", "* * * * *", batchv1.AllowConcurrent))
		c.startCronJobs(controller.CronJobOptions{})
		c.rest(61 * time.Second)
		if got, want := c.jobs(), []string{run("good", 1)}; !slices.Equal(got, want) {
			t.Errorf("jobs %v, want %v", got, want)
		}
		if events := c.events.take(); strings.Count(events, "InvalidCronJob") == 0 || strings.Count(events, "InvalidCronJob") > 20 {
			t.Errorf("events in a minute: %s", events)
		}
	})
}

// TestC17_NewZone: a new time zone moves the next run, and so does the removal of the zone.
func TestC17_NewZone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, newCronJob("c", "0 12 * * *", batchv1.AllowConcurrent))
		c.startCronJobs(controller.CronJobOptions{})
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
			object := c.cronJob("c")
			object.Spec.TimeZone = tc.zone
			_, err := c.BatchV1().CronJobs("ns").Update(t.Context(), object, metav1.UpdateOptions{})
			must.OK(t, err)

			c.rest(tc.rest)
			if got := c.jobs(); !slices.Equal(got, tc.runs) {
				t.Errorf("jobs %v, want %v", got, tc.runs)
			}
		}
	})
}

// TestCronJobs_Mine: a replica leaves the CronJobs of others alone, takes a namespace over when
// told to, and forgets CronJobs that it has lost or that are gone.
func TestCronJobs_Mine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mineNow atomic.Bool
		memories := storeOf[cronjob.Memory]{}
		c := newCluster(t, newCronJob("c", "@every 1m", batchv1.AllowConcurrent), newCronJob("theirs", "@every 1m", batchv1.AllowConcurrent))
		all := c.startCronJobs(controller.CronJobOptions{
			Common:   controller.Common{Workers: 1, Namespace: func(string) bool { return mineNow.Load() }},
			Takes:    func(o controller.Object) bool { return o.GetName() != "theirs" },
			Memories: memories,
		})

		c.rest(30 * time.Second)
		for _, test := range []struct {
			what         string
			mine         bool
			namespace    string
			rest         time.Duration
			jobs, stored int
		}{
			{"a namespace that was not asked for", true, "another", 0, 0, 0},
			{"a namespace that is taken over", true, "ns", time.Minute, 1, 1},
			{"a namespace that was lost, whose stored memory is the next replica's", false, "ns", time.Minute, 1, 1},
			{"a namespace that has come back", true, "ns", 0, 2, 1},
		} {
			mineNow.Store(test.mine)
			all.Enqueue(func(name string) bool { return name == test.namespace })
			c.rest(time.Second + test.rest)
			if got := c.jobs(); len(got) != test.jobs || len(memories) != test.stored || test.jobs > 0 && got[0] != run("c", 1) {
				t.Errorf("%s: jobs %v, memories %v", test.what, got, memories)
			}
		}

		must.OK(t, c.BatchV1().CronJobs("ns").Delete(t.Context(), "c", metav1.DeleteOptions{}))
		c.rest(3 * time.Minute)
		if got := c.jobs(); len(got) != 2 || len(memories) > 0 {
			t.Errorf("of a CronJob that is gone: jobs %v, memories %v", got, memories)
		}

		for _, line := range c.log {
			if !strings.HasPrefix(line, `"level"=4 "msg"="decision" "cronJob"={"name"="c" "namespace"="ns"} "decision"="`) {
				t.Errorf("log %s", line)
			}
		}
		if len(c.log) == 0 {
			t.Error("no decision is logged")
		}
	})
}

// TestCronJobs_NewLife: a compiled schedule is not used for a later CronJob of the same name or for
// another zone, and is forgotten when the CronJob is gone.
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

		must.OK(t, d.cronJobs.Delete(later))
		if _, err := d.round("c"); err != nil || d.Compiled() != 0 {
			t.Errorf("%d schedules are kept, %v", d.Compiled(), err)
		}
	})
}

// TestCronJobs_CompiledOnce: the rounds of one schedule share the compiled schedule.
func TestCronJobs_CompiledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var zones []*time.Location
		d := newCronDesk(t, controller.CronJobOptions{Hooks: controller.CronJobHooks{
			Round: func(r controller.CronJobRound) { zones = append(zones, r.Snapshot.Schedule.Location) },
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

// TestCronJobs_TriggerAndBackfill: a round removes a request after it has started the runs. Its
// later plans no longer have that request, and each plan counts in the metrics (C16).
func TestCronJobs_TriggerAndBackfill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counted := 0
		metrics := controller.CronJobMetrics{Round: func(r controller.CronJobRound) { counted += r.Metrics.Created }}
		requests := &asked{triggers: []cronjob.Trigger{{ID: "now"}}}
		requests.backfills = []cronjob.Backfill{{ID: "old", After: time.Now().Add(-121 * time.Minute), Until: time.Now(), Overlap: cronjob.Allow}}

		d := newCronDesk(t, controller.CronJobOptions{Requests: requests, Metrics: metrics, Planner: cronjob.Options{CatchUp: cronjob.CatchUpAll}})
		must.OK(t, d.cronJobs.Add(newCronJob("c", "@hourly", batchv1.AllowConcurrent)))
		must.OK(t, d.Tracker().Add(newCronJob("c", "@hourly", batchv1.AllowConcurrent)))

		time.Sleep(121 * time.Minute)
		_, err := d.round("c")
		must.OK(t, err)

		created := slices.DeleteFunc(strings.Split(d.calls(), ", "), func(call string) bool { return !strings.HasPrefix(call, "create") })
		want := []string{"create jobs " + run("c", 60), "create jobs c-manual-now", "create jobs " + run("c", -120), "create jobs " + run("c", -60),
			"create jobs " + run("c", 0), "create jobs " + run("c", 120)}
		if !slices.Equal(created, want) || !slices.Equal(requests.took, []string{"now"}) || len(requests.backfills) > 0 || counted != len(want) {
			t.Errorf("%q, want %q, taken out %q, backfills %v, the metrics say %d", created, want, requests.took, requests.backfills, counted)
		}

		if _, err := d.round("c"); err != nil || len(requests.took) > 1 {
			t.Errorf("taken out %q, %v", requests.took, err)
		}

		requests.triggers = []cronjob.Trigger{{ID: "later"}}
		if _, err := d.round("c"); err != nil || !slices.Equal(requests.took, []string{"now", "later"}) {
			t.Errorf("a trigger alone: taken out %q, %v", requests.took, err)
		}
	})
}
