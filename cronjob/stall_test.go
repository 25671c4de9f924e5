package cronjob_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/cronjobgen"
	"github.com/batchplan/batchplan/internal/world"
)

// TestCL4_NothingStalls uses a backend without notifications of the controller's own writes: a
// round takes place only because of Requeue, Retry or an outside event. After a round that requests
// no other, a further round must have nothing to do. In the end all requested jobs have started.
func TestCL4_NothingStalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		options := cronjob.Options{CatchUp: cronjob.CatchUpAll}
		if rapid.Bool().Draw(t, "with options") {
			options = drawOptions(t)
		}
		w := world.NewCronJob(newCronJob(drawSpec(t)), options)
		w.Consistent = rapid.Bool().Draw(t, "consistent")
		for range rapid.IntRange(3, 25).Draw(t, "steps") {
			outside(t, w)
			follow(t, w)
		}
	})
}

// outside lets something happen to the CronJob, and the controller is notified of it.
func outside(t *rapid.T, w *world.CronJob) {
	switch rapid.IntRange(0, 7).Draw(t, "what happens") {
	case 0, 1: // an outage
		w.Now = w.Now.Add(time.Duration(rapid.IntRange(1, 3*24*60).Draw(t, "minutes")) * time.Minute)
	case 2: // the time of the last Requeue comes
		if w.Requeue.At.After(w.Now) {
			w.Now = w.Requeue.At
		}
	case 3, 4:
		if names := w.Running(); len(names) > 0 {
			w.Finish(rapid.SampledFrom(names).Draw(t, "job"), cronjobgen.Endings().Draw(t, "how"))
		}
	case 5: // another owner takes the name of a run
		w.AddForeign(w.Schedule.Schedule.Next(w.Now))
	case 6:
		w.Trigger(rapid.SampledFrom([]cronjob.ConcurrencyPolicy{"", cronjob.Forbid}).Draw(t, "overlap"))
	case 7:
		w.Backfill(cronjob.Backfill{
			After:   w.Now.Add(-time.Duration(rapid.IntRange(1, 100).Draw(t, "backfill after")) * time.Hour),
			Overlap: rapid.SampledFrom([]cronjob.ConcurrencyPolicy{cronjob.Forbid, cronjob.Allow}).Draw(t, "backfill overlap"),
		}, rapid.IntRange(1, 25).Draw(t, "backfill runs"))
	}
}

// moment is the time after which a round looks for the effects of the last round's writes.
const moment = time.Second

// follow plays rounds as long as the conclusions request them within a moment. Some writes fail at
// first.
func follow(t *rapid.T, w *world.CronJob) {
	left := rapid.IntRange(0, 3).Draw(t, "faults")

	for rounds := 0; ; rounds++ {
		if rounds > 400 {
			t.Fatalf("%d rounds and no end", rounds)
		}
		round(t, w, func() world.Fault {
			if left--; left >= 0 {
				return rapid.SampledFrom([]world.Fault{world.None, world.Fail, world.LoseReply}).Draw(t, "fault")
			}
			return world.None
		})

		if !w.Retry && (w.Requeue.At.IsZero() || w.Requeue.At.After(w.Now.Add(moment))) {
			break
		}
		if !w.Retry && w.Requeue.At.After(w.Now) {
			w.Now = w.Requeue.At
		}
	}

	s := w.Snapshot()
	plan := planWithLaws(t, s)
	if plan.Settle(cronjob.Writes{}).Write || len(plan.Create)+len(plan.Delete)+len(plan.Verify)+len(plan.Triggered) > 0 {
		t.Fatalf("nobody asks for a round, and there is something to do:\n%s", plan.String())
	}
}
