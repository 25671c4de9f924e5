package cronjob_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/cronjobgen"
	"github.com/batchplan/batchplan/internal/world"
)

// TestCI15_LivesBehindOwnWrites: jobs that must not overlap do not, although the controller sees
// the CronJob and each of its jobs several seconds late.
func TestCI15_LivesBehindOwnWrites(t *testing.T) {
	rapid.Check(t, lateLife)
}

// lateLife runs a life behind late caches. At the end of the life, the faults stop and the caches
// show everything.
func lateLife(t *rapid.T) {
	options := cronjob.Options{}
	switch rapid.IntRange(0, 3).Draw(t, "with options") {
	case 0:
	case 1: // one run follows the other immediately
		options.CatchUp = cronjob.CatchUpAll
		options.MaxActive = rapid.Int32Range(0, 2).Draw(t, "max active")
		options.ReplaceWhenGone = rapid.Bool().Draw(t, "when gone")
	default:
		options = drawOptions(t)
	}

	spec := drawSpec(t)
	if rapid.Bool().Draw(t, "minutely") {
		spec.Schedule = "* * * * *"
	}

	w := world.NewCronJob(newCronJob(spec), options)
	w.Lag = &world.Lag{
		Most: time.Duration(rapid.IntRange(1, 10).Draw(t, "most")) * time.Second,
		Draw: func(from, to int) int { return rapid.IntRange(from, to).Draw(t, "version") },
	}

	for range rapid.IntRange(10, 60).Draw(t, "steps") {
		lateStep(t, w)
	}

	checkNoHotLoop(t, w)
	w.Lag.Draw = func(_, to int) int { return to }
	for range 400 { // each of the 100 runs of CatchUpAll may first wait for other jobs
		w.RemovePods()
		round(t, w, func() world.Fault { return world.None })
		if !w.Retry && (w.Requeue.At.IsZero() || w.Requeue.At.After(w.Now)) {
			break
		}
	}

	comeToRest(t, w)
}

// checkNoHotLoop repeats rounds while the caches show nothing new. Soon the rounds must stop
// requesting the next one immediately (M9). CatchUpAll may need 100 rounds.
func checkNoHotLoop(t *rapid.T, w *world.CronJob) {
	w.Lag.Draw = func(from, _ int) int { return from }
	for range 150 {
		round(t, w, func() world.Fault { return world.None })
		if w.Requeue.At.IsZero() || w.Requeue.At.After(w.Now) {
			return
		}
		w.Now = w.Now.Add(time.Millisecond)
	}
	t.Fatalf("150 rounds in a row behind a late cache, and the next is requested immediately")
}

func lateStep(t *rapid.T, w *world.CronJob) {
	switch n := rapid.IntRange(0, 24).Draw(t, "late step"); {
	case n < 11:
		lateRound(t, w)
	case n < 15:
		w.Now = w.Now.Add(time.Duration(rapid.IntRange(1, 4000).Draw(t, "ms")) * time.Millisecond)
	case n < 17:
		w.Now = w.Now.Add(time.Duration(rapid.IntRange(1, 4*3600).Draw(t, "s")) * time.Second)
	case n < 20:
		if names := w.Running(); len(names) > 0 {
			w.Finish(rapid.SampledFrom(names).Draw(t, "job"), cronjobgen.Endings().Draw(t, "how"))
		}
	case n < 21:
		w.CronJob.Spec.Suspend = ptr(rapid.Bool().Draw(t, "suspend"))
	case n < 22:
		w.Trigger(rapid.SampledFrom([]cronjob.ConcurrencyPolicy{"", cronjob.Forbid}).Draw(t, "overlap"))
	case n < 23:
		w.Backfill(cronjob.Backfill{
			After:     w.Now.Add(-time.Duration(rapid.IntRange(0, 24).Draw(t, "backfill after")) * time.Hour),
			Overlap:   rapid.SampledFrom([]cronjob.ConcurrencyPolicy{cronjob.Forbid, cronjob.Allow}).Draw(t, "backfill overlap"),
			MaxActive: rapid.Int32Range(0, 3).Draw(t, "backfill max"),
		}, rapid.IntRange(1, 8).Draw(t, "backfill runs"))
	case n < 24:
		w.Add(cronjob.Child{Name: "by-hand", UID: "by-hand", CreationTimestamp: w.Now, StartTime: w.Now})
	default:
		w.RemovePods()
	}

	w.Commit()
}

// lateRound plays a round with faults, and the rounds that it requests immediately. After a restart
// the controller lists everything again.
func lateRound(t *rapid.T, w *world.CronJob) {
	for range rapid.IntRange(1, 4).Draw(t, "rounds") {
		w.Requeue.At = time.Time{}
		if !lateRoundOnce(t, w) || w.Requeue.At.IsZero() || w.Requeue.At.After(w.Now) {
			return
		}
		w.Now = w.Now.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "ms")) * time.Millisecond)
	}
}

// lateRoundOnce plays one round with faults. It returns false after a crash.
func lateRoundOnce(t *rapid.T, w *world.CronJob) bool {
	s := w.Snapshot()
	plan := planWithLaws(t, s)
	if len(plan.Unexpected) > 0 && rapid.Bool().Draw(t, "look again") {
		plan = planWithLaws(t, w.LookAgain(s))
	}
	return carryOut(t, w, &plan, func() world.Fault {
		return rapid.SampledFrom([]world.Fault{world.None, world.None, world.None, world.None, world.None, world.None, world.Fail, world.LoseReply, world.Crash}).Draw(t, "fault")
	})
}
