package cronjobgen

import (
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/internal/world"
)

// AllFaults are the faults that one write of a round can have.
var AllFaults = []world.Fault{world.Fail, world.LoseReply, world.Crash}

// Lives generates worlds in which a CronJob with a generated spec has lived for a while, with
// faults, edits, triggers and backfills. If late is true, the controller sees changes of the
// CronJob and its jobs with a delay. After the life it sees the oldest versions that the lag
// allows.
func Lives(late bool) *rapid.Generator[*world.CronJob] {
	return rapid.Custom(func(t *rapid.T) *world.CronJob {
		w := world.NewCronJob(cronjob.CronJob{
			Namespace:         "default",
			Name:              "c",
			UID:               "cronjob-a",
			CreationTimestamp: world.Start,
			Spec:              drawSpec(t),
		}, cronjob.Options{})
		if late {
			w.Lag = &world.Lag{
				Most: 10 * time.Second,
				Draw: func(from, to int) int { return rapid.IntRange(from, to).Draw(t, "version") },
			}
		}

		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			Step(t, w, AllFaults)
			if w.Err() != nil {
				t.Fatalf("%v", w.Err())
			}
		}

		w.Fault = nil
		if late {
			w.Lag.Draw = func(from, _ int) int { return from }
		}
		return w
	})
}

// Endings generates the ends of children.
func Endings() *rapid.Generator[cronjob.Ending] {
	return rapid.SampledFrom([]cronjob.Ending{
		cronjob.Complete, cronjob.Failed, cronjob.Complete, cronjob.Failed, world.Aborted, world.Skipped,
	})
}

// Snapshots generates snapshots that a controller sees in [Lives].
func Snapshots() *rapid.Generator[cronjob.Snapshot] {
	return rapid.Custom(func(t *rapid.T) cronjob.Snapshot {
		return Lives(rapid.Bool().Draw(t, "late")).Draw(t, "life").Snapshot()
	})
}

// Statuses generates statuses that a CronJob can have.
func Statuses() *rapid.Generator[cronjob.Status] {
	return rapid.Map(Lives(false), func(w *world.CronJob) cronjob.Status { return w.CronJob.Status })
}

// Children generates the jobs that a CronJob can have at one time, some of other owners.
func Children() *rapid.Generator[[]cronjob.Child] {
	return rapid.Map(Lives(false), func(w *world.CronJob) []cronjob.Child { return w.Children() })
}

// Memories generates memories that a controller can have, as they are stored.
func Memories() *rapid.Generator[cronjob.Memory] {
	return rapid.Map(Lives(true), func(w *world.CronJob) cronjob.Memory { return w.Memory })
}

// Step makes one thing happen in a world: a round with at most one of the faults, or what [Act] or [Request] does.
func Step(t *rapid.T, w *world.CronJob, faults []world.Fault) {
	switch n := rapid.IntRange(0, 19).Draw(t, "step"); {
	case n < 8:
		round(t, w, faults)
	case n < 10:
		Request(t, w)
	default:
		Act(t, w)
	}
	w.Commit()
}

// round runs a round of the controller in which at most one write goes wrong.
func round(t *rapid.T, w *world.CronJob, faults []world.Fault) {
	life.DrawFaults(t, &w.Injector, faults, 5)
	if _, err := w.Round(); err != nil {
		t.Fatalf("the snapshot was refused: %v", err)
	}
}

// Act makes time pass, a job end, or a user act. The clock also jumps forwards and back (F8).
func Act(t *rapid.T, w *world.CronJob) {
	switch n := rapid.IntRange(0, 12).Draw(t, "act"); {
	case n < 4:
		w.Now = w.Now.Add(time.Duration(rapid.Int64Range(1, 4*3600_000).Draw(t, "ms")) * time.Millisecond)
	case n < 5:
		w.Now = w.Now.AddDate(0, 0, rapid.IntRange(-2, 60).Draw(t, "days"))
	case n < 9:
		if names := w.Running(); len(names) > 0 {
			w.Finish(rapid.SampledFrom(names).Draw(t, "job"), Endings().Draw(t, "how"))
		}
	case n < 10:
		w.CronJob.Spec.Suspend = ptr(rapid.Bool().Draw(t, "suspend"))
	case n < 11:
		removeRecorded(t, w)
	default:
		w.DeliverAll()
		w.RemovePods()
	}
}

// Request makes a user ask for a job outside of the schedule, or for a backfill.
func Request(t *rapid.T, w *world.CronJob) {
	if rapid.Bool().Draw(t, "trigger") {
		w.Trigger(rapid.SampledFrom([]cronjob.ConcurrencyPolicy{"", cronjob.Forbid}).Draw(t, "overlap"))
		return
	}
	overlaps := rapid.SampledFrom([]cronjob.ConcurrencyPolicy{cronjob.Forbid, cronjob.Allow})
	w.Backfill(cronjob.Backfill{
		After:     w.Now.Add(time.Duration(rapid.Int64Range(-30*24, 24).Draw(t, "backfill after")) * time.Hour),
		Overlap:   overlaps.Draw(t, "backfill overlap"),
		MaxActive: rapid.Int32Range(0, 3).Draw(t, "backfill max"),
	}, rapid.IntRange(1, 25).Draw(t, "backfill runs"))
}

// removeRecorded removes a job on behalf of a user. It keeps the job of a run that nothing else
// records, since the run would be unknown without the job.
func removeRecorded(t *rapid.T, w *world.CronJob) {
	if w.Lag != nil {
		return // it is not certain what the controller knows
	}

	w.DeliverAll()
	var names []string
	for _, c := range w.Children() {
		beside := c.ScheduledTime.IsZero() && len(w.Triggers) > 0
		if !c.ScheduledTime.After(w.CronJob.Status.LastScheduleTime) && !w.Awaits(c.ScheduledTime) && !beside {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return
	}

	name := rapid.SampledFrom(names).Draw(t, "removed")
	if w.Jobs[name].Finished == "" && rapid.Bool().Draw(t, "its pods take a while") {
		w.BeginRemoval(name)
		return
	}
	delete(w.Jobs, name)
}
