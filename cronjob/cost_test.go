package cronjob_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
)

// crowds are snapshots with n of what a user can have many of.
var crowds = []struct {
	name string
	make func(n int) cronjob.Snapshot
}{
	{"triggers", func(n int) cronjob.Snapshot {
		s := crowd(cronjob.Allow)
		for i := range n {
			s.Triggers = append(s.Triggers, cronjob.Trigger{ID: fmt.Sprintf("t%06d", n-i)})
		}
		return s
	}},
	{"triggers and their children", func(n int) cronjob.Snapshot {
		s := crowd(cronjob.Replace)
		for i := range n {
			id := fmt.Sprintf("t%06d", i)
			s.Triggers = append(s.Triggers, cronjob.Trigger{ID: id})
			s.Children = append(s.Children, cronjob.Child{Name: cronjob.Trigger{ID: id}.JobName("report"), UID: job.UID("uid-" + id)})
		}
		return s
	}},
	{"unrecorded children", func(n int) cronjob.Snapshot {
		s := crowd(cronjob.Allow)
		for i := range n {
			s.Children = append(s.Children, child(start.Add(time.Duration(i+1)*time.Minute)))
		}
		return s
	}},
	{"unexpected children", func(n int) cronjob.Snapshot {
		s := crowd(cronjob.Allow)
		for i := range n {
			s.Children = append(s.Children, cronjob.Child{Name: fmt.Sprint("by-hand-", i), UID: job.UID(fmt.Sprint("u", i))})
		}
		return s
	}},
	{"finished active jobs", func(n int) cronjob.Snapshot {
		s := crowd(cronjob.Allow)
		for i := range n {
			c := child(start.Add(-time.Duration(i+1) * time.Minute))
			s.Children = append(s.Children, finished(c, job.ConditionComplete, start))
			s.CronJob.Status.Active = append(s.CronJob.Status.Active, ref(c))
		}
		return s
	}},
	{"missing actives", func(n int) cronjob.Snapshot {
		s := crowd(cronjob.Forbid)
		for i := range n {
			s.CronJob.Status.Active = append(s.CronJob.Status.Active, ref(child(start.Add(-time.Duration(i+1)*time.Minute))))
		}
		return s
	}},
	{"actives to replace", func(n int) cronjob.Snapshot {
		s := crowd(cronjob.Replace)
		for i := range n {
			c := child(start.Add(-time.Duration(i+1) * time.Minute))
			s.Children = append(s.Children, c)
			s.CronJob.Status.Active = append(s.CronJob.Status.Active, ref(c))
		}
		return s
	}},
	{"jobs to be gone first", func(n int) cronjob.Snapshot {
		s := crowd(cronjob.Replace)
		s.Options.ReplaceWhenGone = true
		for i := range n {
			s.Children = append(s.Children, child(start.Add(-time.Duration(i+1)*time.Minute)))
		}
		return s
	}},
	{"history", func(n int) cronjob.Snapshot {
		s := crowd(cronjob.Allow)
		s.Options.Quirks = cronjobquirk.EagerHistory
		s.CronJob.Status.LastSuccessfulTime = hours(100)
		for i := range n {
			s.Children = append(s.Children, finished(child(start.Add(-time.Duration(i+1)*time.Minute)), job.ConditionComplete, start))
		}
		return s
	}},
	{"started and not shown", func(n int) cronjob.Snapshot {
		s := crowd(cronjob.Allow)
		s.Memory.Kept().CronJobUID = "cj-1"
		for i := range n {
			s.Memory.Kept().Started = append(s.Memory.Kept().Started, cronjob.StartedJob{Reference: cronjob.Reference{Name: fmt.Sprint("m", i), UID: job.UID(fmt.Sprint("u", i))}})
		}
		return s
	}},
	{"children of another owner", func(n int) cronjob.Snapshot {
		s := crowd(cronjob.Allow)
		s.Consistent = true
		for i := range n {
			c := child(start.Add(-time.Duration(i+1) * time.Minute))
			s.CronJob.Status.Active = append(s.CronJob.Status.Active, ref(c))
			c.Foreign = true
			s.Children = append(s.Children, c)
		}
		return s
	}},
	{"children of a backfill", func(n int) cronjob.Snapshot {
		s := crowd(cronjob.Allow)
		s.CronJob.Spec.Schedule = "* * * * *"
		s.Schedule = cronjob.Compile(&s.CronJob)
		from := start.Add(-time.Duration(2*n) * time.Minute)
		s.Backfills = []cronjob.Backfill{{ID: "b", After: from, Until: start, Overlap: cronjob.Allow}}
		for i := range n {
			c := finished(child(from.Add(time.Duration(2*i+3)*time.Minute)), job.ConditionComplete, start)
			c.Backfilled = true
			s.Children = append(s.Children, c)
		}
		return s
	}},
	{"backfills of the same runs, and their children", func(n int) cronjob.Snapshot {
		s := crowd(cronjob.Replace)
		s.CronJob.Spec.Schedule = "* * * * *"
		s.Schedule = cronjob.Compile(&s.CronJob)
		from := start.Add(-time.Duration(2*n) * time.Minute)
		for i := range n {
			s.Backfills = append(s.Backfills, cronjob.Backfill{ID: fmt.Sprint(i), After: from, Until: start.Add(time.Duration(n) * time.Minute)})
			c := finished(child(from.Add(time.Duration(2*i+3)*time.Minute)), job.ConditionComplete, start)
			c.Backfilled = true
			s.Children = append(s.Children, c)
		}
		return s
	}},
	{"backfills", func(n int) cronjob.Snapshot {
		s := crowd(cronjob.Allow)
		for i := range n {
			s.Backfills = append(s.Backfills, cronjob.Backfill{ID: fmt.Sprint(i), After: hours(200), Until: hours(201)})
		}
		return s
	}},
}

// crowd is a CronJob with a run that is due.
func crowd(policy cronjob.ConcurrencyPolicy) cronjob.Snapshot {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: policy})
	c.Status.LastScheduleTime = start
	return snapshot(c, hours(1))
}

// wholeRound plans and concludes, with an outcome in which all works, or nothing does.
func wholeRound(tb testing.TB, p *cronjob.Planner, s *cronjob.Snapshot, works bool) {
	plan, err := p.Reconcile(s)
	if err != nil {
		tb.Fatal(err)
	}
	o := done(plan)
	if !works {
		for i := range o.Deleted {
			o.Deleted[i] = cronjob.Effect{Result: cronjob.ResultUnsuccessful}
		}
		for i := range o.Created {
			o.Created[i] = cronjob.Effect{Result: cronjob.ResultUnsuccessful}
		}
	}
	s.Memory.Kept().CronJobUID = plan.CronJobUID
}

// TestCost_GrowsLinearly counts what a whole round allocates: ten times as many of
// anything may cost about ten times as much. Growth with the square would be a
// hundred times.
func TestCost_GrowsLinearly(t *testing.T) {
	for _, c := range crowds {
		for _, works := range []bool{true, false} {
			small, large := allocated(t, c.make(1000), works), allocated(t, c.make(10_000), works)
			if large > 20*small+1<<20 {
				t.Errorf("%s, works %t: %d bytes for 1 000, %d for 10 000", c.name, works, small, large)
			}
		}
	}
}

// allocated is the number of bytes that a round with a used planner allocates.
func allocated(t *testing.T, s cronjob.Snapshot, works bool) uint64 {
	var p cronjob.Planner
	wholeRound(t, &p, &s, works)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	wholeRound(t, &p, &s, works)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// BenchmarkCrowds is a whole round with many of something.
func BenchmarkCrowds(b *testing.B) {
	for _, c := range crowds {
		for _, n := range []int{1000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/n=%d", c.name, n), func(b *testing.B) {
				s := c.make(n)
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
