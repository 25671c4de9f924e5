package cronjob_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

// steady returns a snapshot with nothing to do: a job runs, and the history is within its limits.
func steady(schedule string, zone *string) cronjob.Snapshot {
	c := newCronJob(cronjob.Spec{Schedule: schedule, TimeZone: zone, ConcurrencyPolicy: cronjob.Forbid, StartingDeadlineSeconds: ptr[int64](200)})
	compiled := cronjob.Compile(&c)
	last, _ := compiled.Schedule.Latest(time.Time{}, start.AddDate(0, 6, 0))
	var children []cronjob.Child
	for run := last; len(children) < 4; run = compiled.Schedule.Prev(run) {
		children = append(children, finished(child(run), job.ConditionComplete, run.Add(time.Second)))
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

// BenchmarkSteady plans a round with nothing to do, with a reused Planner.
func BenchmarkSteady(b *testing.B) {
	for _, bench := range benchSchedules {
		b.Run(bench.name, func(b *testing.B) { benchRounds(b, steady(bench.schedule, bench.zone)) })
	}
}

// BenchmarkDue plans a round that starts a run, after zero or ten years of missed runs.
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

// everyday holds twenty typical schedules.
var everyday = []string{
	"* * * * *", "*/5 * * * *", "*/15 * * * *", "0 * * * *", "30 * * * *",
	"0 */2 * * *", "0 */6 * * *", "0 0 * * *", "0 2 * * *", "30 3 * * *",
	"15 14 * * *", "0 9-17 * * 1-5", "*/10 8-18 * * 1-5", "0 9 * * 1", "30 6-16/4 * * 1-5",
	"0 0 * * 0", "0 4 * * 6", "0 0 1 * *", "0 6 1,15 * *", "0 0 1 1 *",
}

// many returns n CronJobs, each with its own memory and four children, on a Monday at nine o'clock.
// If recorded is false, a run due at that time is not recorded.
func many(b *testing.B, n int, recorded bool) []cronjob.Snapshot {
	now, all := at("2026-06-01T09:00:00Z"), make([]cronjob.Snapshot, n)
	berlin, err := time.LoadLocation("Europe/Berlin")
	must.OK(b, err)
	zones := []schedule.Option{schedule.WithLocation(time.UTC), schedule.WithLocation(berlin)}

	for i := range all {
		spec := everyday[i%len(everyday)]
		parsed, err := schedule.Parse(spec, zones[i/len(everyday)%2])
		must.OK(b, err)

		until := now
		if !recorded {
			until = now.Add(-1)
		}

		c := newCronJob(cronjob.Spec{Schedule: spec})
		c.Status.LastScheduleTime, _ = parsed.Latest(time.Time{}, until)
		var children []cronjob.Child
		for run := c.Status.LastScheduleTime; len(children) < 4; run = parsed.Prev(run) {
			children = append(children, finished(child(run), job.ConditionComplete, run))
		}

		children[3].Finished = job.ConditionFailed
		c.Status.LastSuccessfulTime = c.Status.LastScheduleTime
		all[i] = cronjob.Snapshot{CronJob: c, Children: children, Now: now, Schedule: cronjob.Compiled{Schedule: parsed}}
	}
	return all
}

// BenchmarkMany plans a hundred thousand CronJobs on one core, and reports the time for a million.
// So many do not fit into a processor cache.
func BenchmarkMany(b *testing.B) {
	const n = 100_000
	for _, recorded := range []bool{true, false} {
		b.Run(fmt.Sprintf("recorded=%t", recorded), func(b *testing.B) {
			all, created := many(b, n, recorded), 0
			var p cronjob.Planner
			b.ReportAllocs()
			for b.Loop() {
				created = 0
				for i := range all {
					plan, err := p.Reconcile(&all[i])
					must.OK(b, err)
					created += len(plan.Create)
				}
			}
			perRound := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / n
			b.ReportMetric(perRound, "ns/cronjob")
			b.ReportMetric(perRound/1000, "s/million")
			b.ReportMetric(100*float64(created)/n, "%due")
		})
	}
}

// BenchmarkBareMany is the baseline for BenchmarkMany: it only reads the values that a round with
// nothing to do needs, each of them once.
func BenchmarkBareMany(b *testing.B) {
	const n = 100_000
	all := many(b, n, true)
	for b.Loop() {
		sum := 0
		for i := range all {
			sum += bareRound(&all[i])
		}
		if sum != 5*n {
			b.Fatal("miscounted")
		}
	}
	perRound := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / n
	b.ReportMetric(perRound, "ns/cronjob")
	b.ReportMetric(perRound/1000, "s/million")
}

// bareRound reads the times and limits of a CronJob, and the name, times and ending of each child.
//
//go:noinline
func bareRound(s *cronjob.Snapshot) (sum int) {
	c := &s.CronJob
	last := c.Status.LastScheduleTime
	if !last.After(s.Now) && !c.Status.LastSuccessfulTime.After(last) && len(c.Status.Active) == 0 &&
		!*c.Spec.Suspend && *c.Spec.SuccessfulJobsHistoryLimit+*c.Spec.FailedJobsHistoryLimit >= 4 &&
		c.DeletionTimestamp.IsZero() && s.Schedule.Schedule.Next(last).After(s.Now) {
		sum++
	}
	for i := range s.Children {
		child := &s.Children[i]
		if !child.Foreign && child.Finished != "" && child.Name != "" && !child.ScheduledTime.After(last) &&
			!child.CreationTimestamp.IsZero() && !child.CompletionTime.After(s.Now) && !child.Backfilled {
			sum++
		}
	}
	return sum
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

// TestSteadyRoundAllocatesNothing checks the claim of the Planner's documentation.
func TestSteadyRoundAllocatesNothing(t *testing.T) {
	for _, bench := range benchSchedules {
		s := steady(bench.schedule, bench.zone)
		var p cronjob.Planner
		plan, err := p.Reconcile(&s)
		if err != nil || len(plan.Create)+len(plan.Delete)+len(plan.Verify)+len(plan.Events) > 0 {
			t.Fatalf("%s: %v\n%s", bench.name, err, plan)
		}
		if n := testing.AllocsPerRun(100, func() {
			if plan, err := p.Reconcile(&s); err != nil || plan.Settle(cronjob.Writes{}).Write {
				t.Error("the round is not steady")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", bench.name, n)
		}
	}
}
