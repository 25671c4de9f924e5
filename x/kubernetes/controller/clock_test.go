//go:build go1.25

package controller_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/expectations"
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
		}{{0, 1}, {expectations.Timeout - time.Second, 1}, {2 * time.Second, 2}} {
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
