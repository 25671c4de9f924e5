package cronjob_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
)

// TestC9_LivesOfAccounts: despite all faults, each run of a life has started or is reported as
// unstarted once, if the memory is stored, the clock does not go back and nobody deletes jobs.
func TestC9_LivesOfAccounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawAccounts(t)
		for range rapid.IntRange(5, 50).Draw(t, "steps") {
			accountStep(t, w)
			checkNotTwice(t, w)
		}
		checkAccounts(t, w)
	})
}

// drawAccounts draws a CronJob that keeps all its jobs.
func drawAccounts(t *rapid.T) *world.CronJob {
	spec, options := drawSpec(t), drawOptions(t)
	spec.Schedule = rapid.SampledFrom([]string{"0 * * * *", "*/15 9-17 * * 1-5", "30 6-16/4 * * 1-5"}).Draw(t, "schedule")
	spec.SuccessfulJobsHistoryLimit, spec.FailedJobsHistoryLimit = nil, nil
	options.KeepSuccessful, options.KeepFailed = 0, 0
	w := world.NewCronJob(newCronJob(spec), options)
	w.Stored = true
	if rapid.Bool().Draw(t, "late") {
		w.Lag = &world.Lag{
			Most: time.Duration(rapid.IntRange(1, 200).Draw(t, "most")) * time.Second,
			Draw: func(from, to int) int { return rapid.IntRange(from, to).Draw(t, "version") },
		}
	}
	w.Consistent = w.Lag == nil && rapid.Bool().Draw(t, "consistent")
	return w
}

func accountStep(t *rapid.T, w *world.CronJob) {
	switch n := rapid.IntRange(0, 19).Draw(t, "step"); {
	case n < 9:
		lateRoundOnce(t, w)
	case n < 12:
		w.Now = w.Now.Add(time.Duration(rapid.IntRange(1, 6*3600).Draw(t, "s")) * time.Second)
	case n < 13:
		w.Now = w.Now.Add(time.Duration(rapid.IntRange(1, 100).Draw(t, "hours")) * time.Hour)
	case n < 15:
		if names := w.Running(); len(names) > 0 {
			w.Finish(rapid.SampledFrom(names).Draw(t, "job"), job.ConditionComplete)
		}
	case n < 17:
		w.CronJob.Spec.Suspend = ptr(rapid.Bool().Draw(t, "suspend"))
	case n < 18:
		w.AddForeign(w.Schedule.Schedule.Next(w.Now))
	case n < 19:
		w.Trigger(rapid.SampledFrom([]cronjob.ConcurrencyPolicy{"", cronjob.Forbid}).Draw(t, "overlap"))
	default:
		w.RemovePods()
	}

	w.Commit()
}

// accounts returns how many runs have started, and how many are reported as unstarted.
func accounts(w *world.CronJob) (started, unstarted int) {
	for i := range w.Unstarted {
		unstarted += w.Unstarted[i].Count
	}
	return len(w.Runs()), unstarted
}

// checkNotTwice checks that no run is counted twice, as started or as unstarted.
func checkNotTwice(t *rapid.T, w *world.CronJob) {
	started, unstarted := accounts(w)
	if all := w.Schedule.Schedule.Count(start, w.Now.AddDate(0, 0, 30)); started+unstarted > all {
		t.Fatalf("%d runs have started and %d have not, of %d", started, unstarted, all)
	}
}

// checkAccounts stops the faults, ends all jobs, and checks that each due run is accounted for.
func checkAccounts(t *rapid.T, w *world.CronJob) {
	w.CronJob.Spec.Suspend = ptr(false)
	if w.Lag != nil {
		w.Lag.Draw = func(_, to int) int { return to }
	}

	for range 600 { // each of the 100 runs of CatchUpAll may first wait for other jobs
		for _, name := range w.Running() {
			if !w.Jobs[name].Foreign {
				w.Finish(name, job.ConditionComplete)
			}
		}
		w.RemovePods()
		w.Commit()

		plan := round(t, w, func() world.Fault { return world.None })
		if !w.Retry && (w.Requeue.At.IsZero() || w.Requeue.At.After(w.Now)) && len(plan.Create) == 0 {
			break
		}
	}

	plan := reconcile(t, w.Snapshot())
	pending := 0
	for _, wait := range plan.Waits {
		if wait.Reason == cronjobreason.WaitNameTaken {
			pending++ // its run is given up once a later run is due
		}
	}

	started, unstarted := accounts(w)
	if all := w.Schedule.Schedule.Count(start, plan.NextRun.Add(-1)); started+unstarted+pending != all {
		t.Fatalf("%d runs have started, %d have not, and %d wait, of %d until %s: %+v\n%s", started, unstarted, pending, all, plan.NextRun, w.Unstarted, &plan)
	}
}

// C9: one round has crashed after it created the job of 1:00, and another after it recorded the
// run. The next round sees the job, but does not delete it yet. If that round crashed as well,
// nothing would show that the run has started.
func TestC9_JobsThatAreNotAccountedForAreNotDeleted(t *testing.T) {
	for name, test := range map[string]struct {
		spec cronjob.Spec
		job  cronjob.Child
	}{
		"replaced": {cronjob.Spec{ConcurrencyPolicy: cronjob.Replace}, child(hours(1))},
		"history":  {cronjob.Spec{SuccessfulJobsHistoryLimit: ptr(int32(0))}, finished(child(hours(1)), job.ConditionComplete, hours(1.2))},
	} {
		t.Run(name, func(t *testing.T) {
			s := hourly(test.spec, hours(2.1), test.job)
			s.Memory = cronjob.Remember(cronjob.Remembered{CronJobUID: s.CronJob.UID, Accounted: hours(0)})
			s.CronJob.Status = cronjob.Status{LastScheduleTime: hours(1), LastSuccessfulTime: hours(1.2)}
			if test.job.Finished == "" {
				s.CronJob.Status.Active = []cronjob.Reference{ref(test.job)}
			}

			plan, end := play(t, s)
			if len(plan.Delete) > 0 || !end.Requeue.At.Equal(s.Now.Add(time.Second)) {
				t.Errorf("asks for a round: %v\n%s", end.Requeue, plan.String())
			}

			s.Memory = end.Memory
			if plan = reconcile(t, s); len(plan.Delete) != 1 {
				t.Errorf("the next round:\n%s", plan.String())
			}
		})
	}
}

// C9: after an edit, CatchUpAll may start runs of the new schedule that are earlier than accounted
// runs of the old schedule. From the first such run on, each run of the new schedule starts or is
// reported once.
func TestC9_EditUnderCatchUpAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schedules := rapid.SampledFrom([]string{"* * * * *", "*/20 * * * *", "0 * * * *", "@every 45m"})
		s := in(hourly(cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, start), cronjob.Options{CatchUp: cronjob.CatchUpAll})
		s.Options.CatchUpLimit = rapid.Int32Range(1, 5).Draw(t, "limit")

		var base time.Time // the first run since the last edit
		started, reported := 0, 0
		round := func() bool {
			plan, end := goOn(t, &s)
			reported += end.Metrics.Unstarted
			for _, c := range plan.Create {
				if started++; base.IsZero() {
					base, started, reported = c.ScheduledTime, 0, 0
				}
				s.Children = append(s.Children, child(c.ScheduledTime))
			}
			return len(plan.Create) > 0
		}
		endAll := func() {
			for i := range s.Children {
				s.Children[i] = finished(s.Children[i], job.ConditionComplete, s.Now)
			}
		}

		for range rapid.IntRange(5, 30).Draw(t, "rounds") {
			s.Now = s.Now.Add(time.Duration(rapid.SampledFrom([]int{1, 50, 200, 600}).Draw(t, "minutes")) * time.Minute)
			if rapid.IntRange(0, 2).Draw(t, "edit") == 1 {
				s.CronJob.Spec.Schedule, base = schedules.Draw(t, "schedule"), time.Time{}
				s.Schedule = cronjob.Compile(&s.CronJob)
			}
			if rapid.Bool().Draw(t, "end") { // until then, Forbid holds the next run back
				endAll()
			}
			round()
		}
		for endAll(); round(); endAll() {
		}

		all := s.Schedule.Schedule.Count(base, s.Now)
		if !base.IsZero() && started+reported != all {
			t.Fatalf("%d runs have started and %d were reported, of %d after %v", started, reported, all, base)
		}
	})
}
