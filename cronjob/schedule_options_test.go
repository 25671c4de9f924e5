package cronjob_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/cronjobgen"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

// C13: the runs of a minute have different names, or the round returns an error.
func TestC13_SecondsDoNotCollide(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "*/20 * * * * *"})
	c.Spec.ConcurrencyPolicy = cronjob.Allow
	s := cronjob.Snapshot{CronJob: c, Schedule: cronjob.Compile(&c, schedule.WithSeconds()), Options: cronjob.Options{Naming: cronjob.Naming{Form: cronjob.NameSeconds}}}

	var names []string
	for _, second := range []int{20, 40, 60} {
		s.Now = c.CreationTimestamp.Add(time.Duration(second) * time.Second)
		plan := reconcile(t, s)
		for _, n := range plan.Create {
			names = append(names, n.Name)
			s.CronJob.Status.LastScheduleTime = n.ScheduledTime
			s.Children = append(s.Children, cronjob.Child{Name: n.Name, UID: job.UID(n.Name), ScheduledTime: n.ScheduledTime, Finished: cronjob.Complete, FinishTime: s.Now})
		}
	}

	if len(names) != 3 || len(slices.Compact(slices.Sorted(slices.Values(names)))) != 3 {
		t.Errorf("the runs are %q", names)
	}

	s.Options.Naming.Form = cronjob.NameMinutes
	_, err := cronjob.Reconcile(s)
	if err == nil || !strings.Contains(err.Error(), `options.naming.form: "Minutes"`) || !strings.Contains(err.Error(), `"*/20 * * * * *"`) {
		t.Errorf("got %v", err)
	}
}

// C20: the run at the creation starts once, no matter what happens to its job.
func TestC20_RunAtCreation(t *testing.T) {
	creation := at("2026-01-01T10:20:30Z")
	first, second, third := creation.Add(time.Second), at("2026-01-02T00:00:00Z"), at("2026-01-03T00:00:00Z")

	for _, tc := range []struct {
		name        string
		now, last   time.Time
		spec        cronjob.Spec
		want, again time.Time // the run that starts, and the next one
	}{
		{"at the creation", creation, time.Time{}, cronjob.Spec{}, time.Time{}, first},
		{"a second later", first, time.Time{}, cronjob.Spec{}, first, second},
		{"after an hour", creation.Add(time.Hour), time.Time{}, cronjob.Spec{}, first, second},
		{"recorded, and its job is gone", creation.Add(time.Hour), first, cronjob.Spec{}, time.Time{}, second},
		{"missed, with a later run", second.Add(5 * time.Second), time.Time{}, cronjob.Spec{}, second, third},
		{"past its deadline", creation.Add(time.Hour), time.Time{}, cronjob.Spec{StartingDeadlineSeconds: ptr[int64](60)}, time.Time{}, second},
		{"suspended", first, time.Time{}, cronjob.Spec{Suspend: ptr(true)}, time.Time{}, time.Time{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.spec.Schedule, tc.spec.ConcurrencyPolicy = "0 0 * * *", cronjob.Forbid
			c := newCronJob(tc.spec)
			c.CreationTimestamp, c.Status.LastScheduleTime = creation, tc.last

			plan := reconcile(t, cronjob.Snapshot{CronJob: c, Now: tc.now, Schedule: cronjob.Compile(&c, schedule.RunAfterAnchor()), Consistent: true})
			if got := created(t, plan); !got.Equal(tc.want) || !plan.NextRun.Equal(tc.again) {
				t.Errorf("starts %s, next %s, want %s, %s:\n%s", got, plan.NextRun, tc.want, tc.again, &plan)
			}
		})
	}
}

// C20: nothing starts outside of the bounds, and after the end there is no next run.
func TestC20_Window(t *testing.T) {
	s := hourly(cronjob.Spec{}, start)
	s.Schedule, s.Consistent = cronjob.Compile(&s.CronJob, schedule.NotBefore(hours(2)), schedule.NotAfter(hours(3.5))), true
	for _, tc := range []struct{ now, last, want, next time.Time }{
		{hours(1.5), time.Time{}, time.Time{}, hours(2)},
		{hours(2), time.Time{}, hours(2), hours(3)},
		{hours(3.2), hours(2), hours(3), time.Time{}},
		{hours(9), hours(2), hours(3), time.Time{}}, // missed, and started after the end
		{hours(9), hours(3), time.Time{}, time.Time{}},
	} {
		s.Now, s.CronJob.Status.LastScheduleTime = tc.now, tc.last
		plan := reconcile(t, s)
		if got := created(t, plan); !got.Equal(tc.want) || !plan.NextRun.Equal(tc.next) {
			t.Errorf("at %s: starts %s, next %s, want %s, %s", tc.now, got, plan.NextRun, tc.want, tc.next)
		}
	}
}

// C20: in random lives no run starts outside of the bounds, and the run at the CronJob's creation
// starts at most once.
func TestC20_InRandomLives(t *testing.T) {
	atCreation := 0
	rapid.Check(t, func(t *rapid.T) {
		c := cronjob.CronJob{Namespace: "default", Name: "c", UID: "cronjob-a", CreationTimestamp: world.Start, Spec: cronjobgen.SpecsInSeconds().Draw(t, "spec")}
		begin := world.Start.Add(time.Duration(rapid.IntRange(-24, 48).Draw(t, "begins")) * time.Hour)
		end := begin.AddDate(0, 0, rapid.IntRange(1, 20).Draw(t, "days"))
		w := world.NewCronJob(c, cronjobgen.AllOptions(true).Draw(t, "options"))
		w.Schedule = cronjob.Compile(&c, schedule.WithSeconds(), schedule.RunAfterAnchor(), schedule.NotBefore(begin), schedule.NotAfter(end))

		started := map[job.UID]bool{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			cronjobgen.Step(t, w, cronjobgen.AllFaults)
			if w.Err() != nil {
				t.Fatalf("%v", w.Err())
			}

			for _, child := range w.Children() {
				run := child.ScheduledTime
				if !child.Foreign && !run.IsZero() && (run.Before(begin) || run.After(end)) {
					t.Fatalf("%s starts outside of %s to %s", child.Name, begin, end)
				}
				if run.Equal(world.Start.Add(time.Second)) {
					started[child.UID] = true
				}
			}
		}

		if len(started) > 1 {
			t.Fatalf("the run at the creation started %d times", len(started))
		}
		atCreation += len(started)
	})

	if atCreation == 0 && !testing.Short() { // one life in ten has such a run
		t.Error("no run at a creation has started")
	}
}
