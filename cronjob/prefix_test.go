package cronjob_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
)

// TestPrefixLaw: a crash after any prefix of a plan's writes, and a restart, lead
// to the same jobs and the same status as no crash (JI26 for CronJobs).
func TestPrefixLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSpec(t)
		spec.StartingDeadlineSeconds = nil
		ends := drawEnds(t)
		crashAnywhere(t, spec, ends, nil)
	})
}

// TestBackfill_PrefixLaw is TestPrefixLaw with backfills. Their progress is one more write.
func TestBackfill_PrefixLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSpec(t)
		spec.StartingDeadlineSeconds = nil
		var backfills []cronjob.Backfill
		for range rapid.IntRange(1, 2).Draw(t, "backfills") {
			backfills = append(backfills, cronjob.Backfill{
				After:   start.Add(time.Duration(rapid.IntRange(-50, 100).Draw(t, "after")) * time.Hour),
				Overlap: rapid.SampledFrom([]cronjob.ConcurrencyPolicy{cronjob.Forbid, cronjob.Allow}).Draw(t, "overlap"),
			})
		}
		crashAnywhere(t, spec, drawEnds(t), backfills)
	})
}

func crashAnywhere(t *rapid.T, spec cronjob.Spec, ends []job.ConditionType, backfills []cronjob.Backfill) {
	want := afterCrash(t, spec, ends, backfills, -1)
	for prefix := range 6 + 5*len(backfills) {
		if got := afterCrash(t, spec, ends, backfills, prefix); got != want {
			t.Fatalf("crash after %d writes:\n%s\nwithout:\n%s", prefix, got, want)
		}
	}
}

func drawEnds(t *rapid.T) []job.ConditionType {
	return rapid.SliceOfN(rapid.SampledFrom([]job.ConditionType{"", job.ConditionComplete, job.ConditionFailed}), 2, 4).Draw(t, "ends")
}

// afterCrash starts one job a day, which ends as drawn, and requests four runs of each backfill.
// The last round crashes after the given number of writes, and the controller comes to rest.
// afterCrash returns the final state as text.
func afterCrash(t *rapid.T, spec cronjob.Spec, ends []job.ConditionType, backfills []cronjob.Backfill, writes int) string {
	w := world.NewCronJob(newCronJob(spec), cronjob.Options{})
	works := func() world.Fault { return world.None }
	for _, how := range ends {
		w.Now = w.Now.Add(24*time.Hour + 7*time.Minute)
		plainRound(t, w, works)
		for _, name := range w.Running() {
			if how != "" {
				w.Finish(name, how)
			}
		}
	}
	w.Now = w.Now.Add(24 * time.Hour)
	for _, b := range backfills {
		w.Backfill(b, 4)
	}
	plainRound(t, w, func() world.Fault {
		if writes == 0 {
			return world.Crash
		}
		writes--
		return 0
	})
	for range 6 {
		plainRound(t, w, works)
	}
	for i := range w.CronJob.Status.Active {
		w.CronJob.Status.Active[i].UID = "" // chosen by the server
	}
	// After a crash, jobs may be recorded in another order.
	slices.SortFunc(w.CronJob.Status.Active, func(a, b cronjob.Reference) int { return cmp.Compare(a.Name, b.Name) })
	var names []string
	w.DeliverAll()
	for _, c := range w.Children() {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return encode(t, []any{w.CronJob.Status, names, w.Backfills})
}

// plainRound plays a round without checking the laws, which is slow and done by other tests.
func plainRound(t rapid.TB, w *world.CronJob, draw func() world.Fault) {
	t.Helper()
	plan := reconcile(t, w.Snapshot())
	carryOut(t, w, &plan, draw)
}

// TestC2_PrefixLaw_HistoryAndActiveList: the history once deleted a failed job that the status
// still listed. If a crash followed, the entry in the status held back the first backfill until the
// job was looked up. By then, jobs of the second backfill ran, and the first had to wait for them.
func TestC2_PrefixLaw_HistoryAndActiveList(t *testing.T) {
	for writes := range 8 {
		w := world.NewCronJob(newCronJob(cronjob.Spec{Schedule: "@hourly", FailedJobsHistoryLimit: ptr[int32](0)}), cronjob.Options{})
		works := func() world.Fault { return world.None }
		play := func(draw func() world.Fault) { plainRound(t, w, draw) }

		w.Now = hours(1)
		play(works)
		w.Finish(cronjob.Naming{}.JobName("report", hours(1)), job.ConditionFailed)
		w.Backfill(cronjob.Backfill{After: hours(-5), Overlap: cronjob.Forbid}, 2)
		w.Backfill(cronjob.Backfill{After: hours(-3), Overlap: cronjob.Allow}, 2)

		left := writes
		play(func() world.Fault {
			if left == 0 {
				return world.Crash
			}
			left--
			return 0
		})

		for range 6 {
			play(works)
		}

		want := []string{cronjob.Naming{}.JobName("report", hours(-4)), cronjob.Naming{}.JobName("report", hours(-2)), cronjob.Naming{}.JobName("report", hours(-1))}
		if got := w.Running(); !slices.Equal(got, want) || len(w.Jobs) != len(want) {
			t.Errorf("crash after %d writes: %q run of %d jobs, want %q", writes, got, len(w.Jobs), want)
		}
	}
}
