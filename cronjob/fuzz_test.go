package cronjob_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

// FuzzReconcile plans from contradictory snapshots, and settles outcomes that contradict the plan.
// The result is either an error that names a field, or a plan of limited size. It is never a panic
// or an endless loop (CI13).
func FuzzReconcile(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("contradictory snapshots are drawn from these bytes"))
	f.Fuzz(rapid.MakeFuzz(garbage))
}

// TestGarbage runs FuzzReconcile with bytes chosen by rapid.
func TestGarbage(t *testing.T) { rapid.Check(t, garbage) }

func garbage(t *rapid.T) {
	s := drawGarbage(t)
	plan, err := cronjob.Reconcile(s)
	if err != nil {
		if len(fields(err)) == 0 {
			t.Fatalf("the error names no field: %v", err)
		}
		return
	}

	checkQuiet(t, s, &plan)
	if len(plan.Create) > 1+len(s.Triggers)+10 || len(plan.Delete) > len(s.Children)+len(s.CronJob.Status.Active)+len(s.Memory.Kept().Started) {
		t.Fatal(plan.String())
	}
	if at := plan.Requeue.At; !at.IsZero() && !at.After(s.Now) {
		t.Fatalf("CI9: again at %s, now is %s", at, s.Now)
	}

	for _, w := range plan.Waits {
		if w.String() == "" {
			t.Fatal("a wait without a sentence")
		}
	}

	o := drawOutcome(t)
	if status := plan.Settle(o.Writes).Status; status.LastScheduleTime.Before(s.CronJob.Status.LastScheduleTime) {
		t.Fatalf("CI4: %s", status)
	}
	plan.Conclude(o)
	plan.MayCreate(o.Writes)
	_ = plan.String()
}

func drawTime(t *rapid.T, label string) time.Time {
	switch rapid.IntRange(0, 5).Draw(t, label+" kind") {
	case 0:
		return time.Time{}
	case 1:
		return time.Unix(rapid.Int64Range(-1<<40, 1<<40).Draw(t, label), 0).UTC()
	case 2:
		return time.Date(rapid.IntRange(9990, 10010).Draw(t, label), 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return start.Add(time.Duration(rapid.Int64Range(-1<<50, 1<<50).Draw(t, label)))
}

func drawNumber[T int32 | int64](t *rapid.T, label string) *T {
	return rapid.SampledFrom([]*T{nil, ptr[T](0), ptr[T](1), ptr[T](100), ptr[T](-1), ptr[T](math.MaxInt32)}).Draw(t, label)
}

func drawGarbage(t *rapid.T) cronjob.Snapshot {
	schedules := append([]string{"* * * * *", "0 0 31 2 *", "0 0 29 2 *", "nonsense", "", "@every 1ns", "TZ=0 * * * * *"}, worldSchedules...)
	c := cronjob.CronJob{Name: "report", UID: rapid.SampledFrom([]job.UID{"cj-1", "cj-1", "cj-1", ""}).Draw(t, "uid")}
	c.CreationTimestamp = drawTime(t, "created")
	c.Status.LastScheduleTime = drawTime(t, "last")
	c.Status.LastSuccessfulTime = drawTime(t, "success")
	c.Spec = cronjob.Spec{
		Schedule:                   rapid.SampledFrom(schedules).Draw(t, "schedule"),
		TimeZone:                   rapid.SampledFrom([]*string{nil, nil, ptr("Pacific/Apia"), ptr("Nowhere")}).Draw(t, "zone"),
		ConcurrencyPolicy:          rapid.SampledFrom([]cronjob.ConcurrencyPolicy{"", "Allow", "Forbid", "Replace", "x"}).Draw(t, "policy"),
		StartingDeadlineSeconds:    drawNumber[int64](t, "deadline"),
		SuccessfulJobsHistoryLimit: drawNumber[int32](t, "successful"),
		FailedJobsHistoryLimit:     drawNumber[int32](t, "failed"),
	}

	s := cronjob.Snapshot{Now: drawTime(t, "now")}
	names := []string{"report-1", "report-2", "report-29453880", ""}
	for range rapid.IntRange(0, 4).Draw(t, "children") {
		s.Children = append(s.Children, cronjob.Child{
			Name:    rapid.SampledFrom(names).Draw(t, "name"),
			UID:     rapid.SampledFrom([]job.UID{"a", "b", "c"}).Draw(t, "child uid"),
			Foreign: rapid.Bool().Draw(t, "foreign"), Misnamed: rapid.Bool().Draw(t, "misnamed"), StartTime: drawTime(t, "started"),
			Finished:       rapid.SampledFrom([]job.ConditionType{"", job.ConditionComplete, job.ConditionFailed, "x"}).Draw(t, "finished"),
			CompletionTime: drawTime(t, "completed"), ScheduledTime: drawTime(t, "scheduled"),
		})
	}

	for range rapid.IntRange(0, 3).Draw(t, "active") {
		c.Status.Active = append(c.Status.Active, cronjob.Reference{
			Name: rapid.SampledFrom(names).Draw(t, "active name"), UID: rapid.SampledFrom([]job.UID{"a", "b", "d"}).Draw(t, "active uid"),
		})
	}

	s.CronJob = c
	var opts []schedule.Option
	if rapid.Bool().Draw(t, "preset") {
		s.Options = cronjob.Kubernetes(release.V136())
		if rapid.Bool().Draw(t, "by name") {
			s.Options.Quirks = s.Options.Quirks.With(cronjobquirk.ByName)
		}
		opts = append(opts, schedule.Kubernetes(release.Newest()))
	}

	if rapid.Bool().Draw(t, "policies") {
		quirks := s.Options.Quirks
		s.Options = drawOptions(t)
		s.Options.Quirks = quirks
		s.Options.Jitter = time.Duration(rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64}).Draw(t, "odd jitter"))
		s.Triggers = []cronjob.Trigger{{ID: rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "trigger")}}
		for range rapid.IntRange(0, 2).Draw(t, "backfills") {
			s.Backfills = append(s.Backfills, cronjob.Backfill{
				ID: rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "backfill"), After: drawTime(t, "after"), Until: drawTime(t, "until"),
				Overlap:   rapid.SampledFrom([]cronjob.ConcurrencyPolicy{"", "Allow", "Forbid", "Replace"}).Draw(t, "overlap"),
				MaxActive: rapid.SampledFrom([]int32{0, 1, 100, -1}).Draw(t, "max"),
				Except:    []time.Time{drawTime(t, "except"), drawTime(t, "except")},
			})
		}
	}

	s.Memory = cronjob.Remember(cronjob.Remembered{CronJobUID: c.UID, Recorded: drawTime(t, "recorded"), Since: drawTime(t, "since")})
	s.Memory.Kept().Behind, s.Memory.Kept().Accounted = drawTime(t, "behind"), drawTime(t, "accounted")
	for range rapid.IntRange(0, 3).Draw(t, "started") {
		s.Memory.Kept().Started = append(s.Memory.Kept().Started, cronjob.StartedJob{
			Reference: cronjob.Reference{
				Name: rapid.SampledFrom(names).Draw(t, "started name"), UID: rapid.SampledFrom([]job.UID{"", "a", "b", "e"}).Draw(t, "started uid"),
			},
			ScheduledTime: drawTime(t, "started run"), Backfilled: rapid.Bool().Draw(t, "started backfill"),
			Recorded: rapid.Bool().Draw(t, "started recorded"), Found: rapid.Bool().Draw(t, "started found"),
		})
	}

	if rapid.Bool().Draw(t, "replaced") {
		s.Memory.Kept().Replaced = []cronjob.LeavingJob{{Reference: cronjob.Reference{UID: rapid.SampledFrom([]job.UID{"", "a", "f"}).Draw(t, "replaced uid")}}}
	}
	s.Schedule = cronjob.Compile(&c, opts...)
	return s
}

func drawOutcome(t *rapid.T) cronjob.Outcome {
	result := rapid.Custom(func(t *rapid.T) cronjobreason.Result {
		return cronjobreason.Result(rapid.IntRange(0, 8).Draw(t, "result"))
	})
	effect := rapid.Custom(func(t *rapid.T) cronjob.Effect {
		return cronjob.Effect{Result: result.Draw(t, "effect"), Job: cronjob.Reference{UID: rapid.SampledFrom([]job.UID{"a", "n"}).Draw(t, "made")}}
	})
	reply := rapid.Map(result, func(r cronjobreason.Result) cronjob.Reply { return cronjob.Reply{Result: r} })
	return cronjob.Outcome{
		Writes: cronjob.Writes{
			Verified: rapid.SliceOfN(reply, 0, 3).Draw(t, "verified"),
			Deleted:  rapid.SliceOfN(effect, 0, 4).Draw(t, "deleted"),
			Created:  rapid.SliceOfN(effect, 0, 2).Draw(t, "created"),
		},
		Settled: cronjob.Reply{Result: result.Draw(t, "settled")},
	}
}
