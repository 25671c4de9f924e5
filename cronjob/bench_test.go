package cronjob_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// steady returns a snapshot in which nothing is to do: a job runs, the history
// holds what it may.
func steady(schedule string, zone *string) cronjob.Snapshot {
	c := newCronJob(cronjob.Spec{Schedule: schedule, TimeZone: zone, ConcurrencyPolicy: cronjob.Forbid, StartingDeadlineSeconds: ptr[int64](200)})
	compiled := cronjob.Compile(&c)
	last, _ := compiled.Schedule.Latest(time.Time{}, start.AddDate(0, 6, 0))
	var children []cronjob.Child
	for run := last; len(children) < 4; run = compiled.Schedule.Prev(run) {
		children = append(children, finished(child(run), job.Complete, run.Add(time.Second)))
	}
	running := child(last)
	running.Name, running.UID = "report-running", "uid-running"
	children[3] = running
	c.Status = cronjob.Status{
		Active: []cronjob.Reference{ref(running)}, LastScheduleTime: last, LastSuccessfulTime: last.Add(time.Second),
	}
	return cronjob.Snapshot{CronJob: c, Children: children, Now: last.Add(2 * time.Second), Schedule: compiled}
}

var benchSchedules = []struct {
	name, schedule string
	zone           *string
}{
	{"every 15 min", "*/15 * * * *", nil},
	{"working days in Berlin", "30 8-18/2 * * 1-5", ptr("Europe/Berlin")},
	{"29 February", "0 0 29 2 *", nil},
}

// BenchmarkSteady is a round in which nothing is to do, with a reused Planner.
func BenchmarkSteady(b *testing.B) {
	for _, bench := range benchSchedules {
		b.Run(bench.name, func(b *testing.B) { benchRounds(b, steady(bench.schedule, bench.zone)) })
	}
}

// BenchmarkDue is a round that starts a run after a missed time.
func BenchmarkDue(b *testing.B) {
	for _, bench := range benchSchedules {
		for _, years := range []int{0, 10} {
			s := steady(bench.schedule, bench.zone)
			s.CronJob.Spec.ConcurrencyPolicy = cronjob.Allow
			s.CronJob.Spec.StartingDeadlineSeconds = nil
			s.Now = s.Schedule.Schedule.Next(s.Now.AddDate(years, 0, 0))
			b.Run(fmt.Sprintf("%s/years=%d", bench.name, years), func(b *testing.B) { benchRounds(b, s) })
		}
	}
}

func benchRounds(b *testing.B, s cronjob.Snapshot) {
	var p cronjob.Planner
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Reconcile(&s); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSteadyRoundAllocatesNothing pins the claim of the Planner's documentation.
func TestSteadyRoundAllocatesNothing(t *testing.T) {
	for _, bench := range benchSchedules {
		s := steady(bench.schedule, bench.zone)
		var p cronjob.Planner
		plan, err := p.Reconcile(&s)
		if err != nil || len(plan.Create)+len(plan.Delete)+len(plan.Verify)+len(plan.Events) > 0 {
			t.Fatalf("%s: %v\n%s", bench.name, err, plan)
		}
		if n := testing.AllocsPerRun(100, func() {
			if plan, err := p.Reconcile(&s); err != nil || plan.Settle(cronjob.Outcome{}).Write {
				t.Error("the round is not steady")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", bench.name, n)
		}
	}
}
