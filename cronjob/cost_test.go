package cronjob_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
)

// crowds are snapshots with many objects of one sort. The run of 1:00 is due.
var crowds = []struct {
	name   string
	policy cronjob.ConcurrencyPolicy
	add    func(s *cronjob.Snapshot, i, n int) // adds number i of n
}{
	{"triggers", cronjob.Allow, func(s *cronjob.Snapshot, i, n int) {
		s.Triggers = append(s.Triggers, cronjob.Trigger{ID: fmt.Sprintf("t%06d", n-i)})
	}},
	{"triggers and their children", cronjob.Replace, func(s *cronjob.Snapshot, i, _ int) {
		id := fmt.Sprintf("t%06d", i)
		s.Triggers = append(s.Triggers, cronjob.Trigger{ID: id})
		s.Children = append(s.Children, cronjob.Child{Name: cronjob.Naming{}.TriggerName("report", cronjob.Trigger{ID: id}), UID: job.UID("uid-" + id)})
	}},
	{"unrecorded children", cronjob.Allow, func(s *cronjob.Snapshot, i, _ int) { s.Children = append(s.Children, child(minutes(i+1))) }},
	{"unexpected children", cronjob.Allow, func(s *cronjob.Snapshot, i, _ int) {
		s.Children = append(s.Children, cronjob.Child{Name: fmt.Sprint("by-hand-", i), UID: job.UID(fmt.Sprint("u", i))})
	}},
	{"finished active jobs", cronjob.Allow, func(s *cronjob.Snapshot, i, _ int) {
		c := child(minutes(-i - 1))
		s.Children = append(s.Children, finished(c, job.ConditionComplete, start))
		s.CronJob.Status.Active = append(s.CronJob.Status.Active, ref(c))
	}},
	{"missing actives", cronjob.Forbid, func(s *cronjob.Snapshot, i, _ int) {
		s.CronJob.Status.Active = append(s.CronJob.Status.Active, ref(child(minutes(-i-1))))
	}},
	{"actives to replace", cronjob.Replace, func(s *cronjob.Snapshot, i, _ int) {
		s.Children = append(s.Children, child(minutes(-i-1)))
		s.CronJob.Status.Active = append(s.CronJob.Status.Active, ref(s.Children[i]))
	}},
	{"jobs to be gone first", cronjob.Replace, func(s *cronjob.Snapshot, i, _ int) {
		s.Options.ReplaceWhenGone = true
		s.Children = append(s.Children, child(minutes(-i-1)))
	}},
	{"history", cronjob.Allow, func(s *cronjob.Snapshot, i, _ int) {
		s.Options.Quirks, s.CronJob.Status.LastSuccessfulTime = cronjobquirk.SetOf(cronjobquirk.EagerHistory), hours(100)
		s.Children = append(s.Children, finished(child(minutes(-i-1)), job.ConditionComplete, start))
	}},
	{"started and not shown", cronjob.Allow, func(s *cronjob.Snapshot, i, _ int) {
		m := s.Memory.Kept()
		m.CronJobUID = "cj-1"
		m.Started = append(m.Started, cronjob.StartedJob{Reference: cronjob.Reference{Name: fmt.Sprint("m", i), UID: job.UID(fmt.Sprint("u", i))}})
	}},
	{"children of another owner", cronjob.Allow, func(s *cronjob.Snapshot, i, _ int) {
		s.Consistent = true
		s.Children = append(s.Children, foreign(child(minutes(-i-1))))
		s.CronJob.Status.Active = append(s.CronJob.Status.Active, ref(s.Children[i]))
	}},
	{"children of a backfill", cronjob.Allow, func(s *cronjob.Snapshot, i, n int) {
		s.CronJob.Spec.Schedule = "* * * * *"
		s.Backfills = []cronjob.Backfill{{ID: "b", After: minutes(-2 * n), Until: start, Overlap: cronjob.Allow}}
		s.Children = append(s.Children, backfilled(finished(child(minutes(2*i+3-2*n)), job.ConditionComplete, start)))
	}},
	{"backfills of the same runs, and their children", cronjob.Replace, func(s *cronjob.Snapshot, i, n int) {
		s.CronJob.Spec.Schedule = "* * * * *"
		s.Backfills = append(s.Backfills, cronjob.Backfill{ID: fmt.Sprint(i), After: minutes(-2 * n), Until: minutes(n), Overlap: cronjob.Forbid})
		s.Children = append(s.Children, backfilled(finished(child(minutes(2*i+3-2*n)), job.ConditionComplete, start)))
	}},
	{"backfills", cronjob.Allow, func(s *cronjob.Snapshot, i, _ int) {
		s.Backfills = append(s.Backfills, cronjob.Backfill{ID: fmt.Sprint(i), After: hours(200), Until: hours(201), Overlap: cronjob.Forbid})
	}},
}

// minutes returns the time n minutes after the start.
func minutes(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }

// crowd returns the snapshot with n objects of the sort crowds[i].
func crowd(i, n int) cronjob.Snapshot {
	s := hourly(cronjob.Spec{ConcurrencyPolicy: crowds[i].policy}, hours(1))
	s.CronJob.Status.LastScheduleTime = start
	for k := range n {
		crowds[i].add(&s, k, n)
	}
	s.Schedule = cronjob.Compile(&s.CronJob)
	return s
}

// wholeRound plans and concludes a round. Either all its deletions and creations succeed, or none.
func wholeRound(tb testing.TB, p *cronjob.Planner, s *cronjob.Snapshot, works bool) {
	plan, err := p.Reconcile(s)
	must.OK(tb, err)
	o := done(plan)
	for _, effects := range [][]cronjob.Effect{o.Deleted, o.Created} {
		for i := range effects {
			if !works {
				effects[i] = cronjob.Effect{Result: cronjobreason.ResultUnsuccessful}
			}
		}
	}
	s.Memory.Kept().CronJobUID = kept(plan.Conclude(o).Memory).CronJobUID
}

// TestCost_GrowsLinearly measures the memory that a whole round allocates: for ten times as many
// objects it may be about ten times as much. Quadratic growth would be a hundred times.
func TestCost_GrowsLinearly(t *testing.T) {
	for i := range crowds {
		for _, works := range []bool{true, false} {
			small, large := allocated(t, crowd(i, 1000), works), allocated(t, crowd(i, 10_000), works)
			if large > 20*small+1<<20 {
				t.Errorf("%s, works %t: %d bytes for 1 000, %d for 10 000", crowds[i].name, works, small, large)
			}
		}
	}
}

// allocated returns the number of bytes that a round with a used planner allocates.
func allocated(t *testing.T, s cronjob.Snapshot, works bool) uint64 {
	var p cronjob.Planner
	wholeRound(t, &p, &s, works)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	wholeRound(t, &p, &s, works)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// BenchmarkCrowds runs whole rounds with many objects of one sort.
func BenchmarkCrowds(b *testing.B) {
	for i := range crowds {
		for _, n := range []int{1000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/n=%d", crowds[i].name, n), func(b *testing.B) {
				s := crowd(i, n)
				var p cronjob.Planner
				b.ReportAllocs()
				for b.Loop() {
					wholeRound(b, &p, &s, true)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/each")
			})
		}
	}
}
