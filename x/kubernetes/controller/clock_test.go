//go:build go1.25

package controller_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// TestE1_Clock: the clock of the options decides when expectations expire, and how long a round
// took.
func TestE1_Clock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := testingclock.NewFakeClock(time.Now().AddDate(-1, 0, 0))
		d := newJobDesk(t, controller.JobOptions{
			Common: controller.Common{Clock: clock},
			Hooks:  controller.JobHooks{Planned: func(time.Duration) { clock.Step(time.Millisecond) }},
		}, newJob("j", pointTo(mine)))
		for _, step := range []struct {
			after time.Duration
			pods  int
		}{{0, 1}, {expectations.Timeout - 10*time.Millisecond, 1}, {20 * time.Millisecond, 2}} {
			clock.Step(step.after)
			_, _ = d.round("j")
			if got := len(d.cluster.pods()); got != step.pods {
				t.Errorf("after %s: %d pods were created, want %d", step.after, got, step.pods)
			}
		}
		if want := slices.Repeat([]time.Duration{time.Millisecond}, 3); !slices.Equal(d.told.rounds, want) {
			t.Errorf("the rounds took %s, by the clock %s", d.told.rounds, want)
		}
	})
}

// TestJ43_Clock: the clock of the options decides when a new deadline is over, and when the next run
// of a new schedule is due.
func TestJ43_Clock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := testingclock.NewFakeClock(time.Date(2001, 1, 1, 0, 20, 0, 0, time.UTC))
		common := controller.Common{Clock: clock}

		d := newJobDesk(t, controller.JobOptions{Common: common})
		was := newJob("j", pointTo(mine))
		was.Status.StartTime = pointTo(metav1.NewTime(clock.Now().Add(-10 * time.Second)))
		is := was.DeepCopy()
		is.Spec.ActiveDeadlineSeconds, is.Generation = pointTo[int64](60), was.Generation+1
		d.jobs.OnUpdate(was, is)
		d.want("a deadline", "j 0s, j 50s")

		queue := &asks{}
		newCronDesk(t, controller.CronJobOptions{Common: common}).CronJobEvents(queue).OnUpdate(
			newCronJob("c", "0 0 * * *", batchv1.AllowConcurrent), newCronJob("c", "@hourly", batchv1.AllowConcurrent))
		if got := queue.take(); got != "c 40m0.1s" {
			t.Errorf("a new schedule: asked for %q", got)
		}
	})
}

// TestHooks_Planned: the hook gets the time that a plan took.
func TestHooks_Planned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var planned []time.Duration
		d := newJobDesk(t, controller.JobOptions{
			Common: controller.Common{Clock: testingclock.NewFakeClock(time.Now())},
			Hooks:  controller.JobHooks{Planned: func(took time.Duration) { planned = append(planned, took) }},
		}, newJob("j", pointTo(mine)))
		if _, err := d.round("j"); err != nil || !slices.Equal(planned, []time.Duration{0}) {
			t.Errorf("plans took %v on a clock that stands still, %v", planned, err)
		}
	})
}

// TestReconcile_Within: a round that runs during the round of another job takes nothing from it.
func TestReconcile_Within(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d *jobDesk
		within := 0
		d = newJobDesk(t, controller.JobOptions{Hooks: controller.JobHooks{Planned: func(time.Duration) {
			if within++; within == 1 {
				_, err := d.round("k")
				must.OK(t, err)
			}
		}}}, newJob("j", pointTo(mine)), newJob("k", pointTo(mine)))
		_, err := d.round("j")
		must.OK(t, err)

		owners := map[string]int{}
		for _, p := range d.cluster.pods() {
			name, _, _ := strings.Cut(p.Name, "-")
			owners[metav1.GetControllerOf(&p).Name+" "+name]++
		}
		if within != 2 || !maps.Equal(owners, map[string]int{"j j": 1, "k k": 1}) {
			t.Errorf("after %d plans there are pods of %v", within, owners)
		}
	})
}

// TestCL5_Turns: a round makes at most ten plans. By the clock of the options, the next round comes
// a second later.
func TestCL5_Turns(t *testing.T) {
	const runs = 24
	o := controller.CronJobOptions{Planner: cronjob.Options{CatchUp: cronjob.CatchUpAll}}
	clock := testingclock.NewFakeClock(time.Date(2000, 1, 1, runs, 0, 0, 0, time.UTC)) // a day after virtual time begins
	o.Clock = clock
	history(t, storing(nil), o, hourly, func(c *clockwork) {
		next, err := c.round(0)
		if got := len(c.tasks.all()); err != nil || got != 10 || !next.Equal(clock.Now().Add(time.Second)) {
			t.Errorf("%d runs start, the next round is at %s, %v", got, next, err)
		}
	})
}
