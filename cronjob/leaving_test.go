package cronjob_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
)

// leaving returns the child while it is being deleted, held by a finalizer or its grace period.
func leaving(c cronjob.Child) cronjob.Child {
	c.DeletionTimestamp = c.ScheduledTime.Add(time.Minute)
	return c
}

// toRest plays rounds with outcome done until one does not request another immediately. Status
// fields that the kind does not store are lost between rounds. toRest returns all plans.
func toRest(t *testing.T, s cronjob.Snapshot) (plans []cronjob.Plan) {
	t.Helper()
	s.Children = slices.Clone(s.Children)

	for range 10 {
		plan := reconcile(t, s)
		end := plan.Conclude(done(&plan))
		plans = append(plans, plan)

		for _, c := range plan.Create {
			s.Children = append(s.Children, cronjob.Child{Name: c.Name, UID: cronjob.UID("uid-" + c.Name), ScheduledTime: c.ScheduledTime, StartTime: s.Now})
		}
		for _, d := range plan.Delete {
			i := slices.IndexFunc(s.Children, func(c cronjob.Child) bool { return c.UID == d.UID })
			s.Children[i].DeletionTimestamp = s.Now
		}

		s.Memory, s.CronJob.Status = end.Memory, end.Status
		if s.Options.ActiveFromChildren {
			s.CronJob.Status.Active = nil
		}
		s.Triggers = slices.DeleteFunc(slices.Clone(s.Triggers), func(trigger cronjob.Trigger) bool { return slices.Contains(end.Triggered, trigger.ID) })

		if end.Requeue.At.IsZero() || end.Requeue.At.After(s.Now) {
			return plans
		}
	}
	t.Fatalf("each of ten rounds asks for another one immediately; the last one was\n%s", plans[9].String())
	return nil
}

// CL5, C18: a run is due while the last run's job is being deleted, by a user or by a deletion
// whose reply was lost. Replace need not delete that job again. The due run starts, or waits until
// the job is gone.
func TestCL5_AJobOnItsWayOut(t *testing.T) {
	triggered := leaving(cronjob.Child{Name: "report-manual-x", UID: "x", StartTime: hours(1)})

	for _, tc := range []struct {
		name     string
		children []cronjob.Child
		started  []cronjob.StartedJob
		starts   bool // with ReplaceWhenGone as well
	}{
		{"of a run", []cronjob.Child{leaving(child(hours(1)))}, nil, false},
		{"of a run, and the memory has yet to see it", []cronjob.Child{leaving(child(hours(1)))},
			[]cronjob.StartedJob{{Reference: ref(child(hours(1))), ScheduledTime: hours(1), Recorded: true}}, false},
		{"of a run, without a UID", []cronjob.Child{leaving(child(hours(1)))},
			[]cronjob.StartedJob{{Reference: cronjob.Reference{Name: child(hours(1)).Name}, ScheduledTime: hours(1)}}, false},
		{"of a run that is not recorded", []cronjob.Child{leaving(child(hours(1.5)))}, nil, false},
		{"of a backfill", []cronjob.Child{leaving(backfilled(child(hours(1))))}, nil, true},
		{"of a backfill, and the memory has yet to see it", []cronjob.Child{leaving(backfilled(child(hours(1))))},
			[]cronjob.StartedJob{{Reference: ref(child(hours(1))), Backfilled: true, Recorded: true}}, true},
		{"of a trigger", []cronjob.Child{triggered}, nil, false},
		{"of a trigger, and the memory has yet to see it", []cronjob.Child{triggered}, []cronjob.StartedJob{{Reference: ref(triggered), Recorded: true}}, false},
	} {
		for _, o := range []cronjob.Options{
			{}, {ReplaceWhenGone: true}, {ActiveFromChildren: true}, {ActiveFromChildren: true, ReplaceWhenGone: true},
			{ActiveFromChildren: true, CatchUp: cronjob.CatchUpAll}, {ActiveFromChildren: true, MaxActive: 1},
		} {
			for _, consistent := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/active from children %t, when gone %t, %s, max %d, consistent %t", tc.name, o.ActiveFromChildren, o.ReplaceWhenGone, o.CatchUp, o.MaxActive, consistent), func(t *testing.T) {
					s := in(second(cronjob.Replace, tc.children...), o)
					s.Consistent = consistent
					s.Memory = cronjob.Remember(cronjob.Remembered{CronJobUID: s.CronJob.UID, Started: tc.started, Accounted: hours(1), Recorded: hours(1)})
					s.CronJob.Status.Active = nil
					if !o.ActiveFromChildren && !s.Children[0].Backfilled {
						s.CronJob.Status.Active = []cronjob.Reference{ref(s.Children[0])}
					}

					plans := toRest(t, s)
					creates, warned := 0, false
					for _, p := range plans {
						creates += len(p.Create)
						warned = warned || len(p.Unexpected) > 0
					}
					if want := tc.starts || !o.ReplaceWhenGone; len(plans) > 3 || (creates == 1) != want || warned {
						t.Errorf("%d rounds, %d created, want %t, unexpected %t\n%s", len(plans), creates, want, warned, plans[len(plans)-1].String())
					}
				})
			}
		}
	}
}

// C3: Replace has deleted a job that no snapshot has shown, and has started a new one. The deletion
// is remembered until a snapshot shows only the new job.
func TestC3_ReplacedBeforeItIsShown(t *testing.T) {
	old, next := child(hours(1)), child(hours(2))
	s := hourly(cronjob.Spec{ConcurrencyPolicy: cronjob.Replace}, hours(2.5))
	s.CronJob.Status = cronjob.Status{LastScheduleTime: hours(2), Active: []cronjob.Reference{ref(next)}}
	s.Memory = cronjob.Remember(cronjob.Remembered{
		CronJobUID: s.CronJob.UID, Accounted: hours(2), Recorded: hours(2),
		Started:  []cronjob.StartedJob{{Reference: ref(next), ScheduledTime: hours(2), Recorded: true}},
		Replaced: []cronjob.LeavingJob{{Reference: ref(old)}},
	})

	for _, step := range []struct {
		children   []cronjob.Child
		remembered int
	}{{nil, 1}, {[]cronjob.Child{old}, 1}, {[]cronjob.Child{old, next}, 1}, {[]cronjob.Child{next}, 0}} {
		s.Children = step.children

		plan := reconcile(t, s)
		o := done(&plan)
		for i := range o.Verified {
			o.Verified[i] = cronjob.Reply{Result: cronjobreason.ResultDone} // the new job exists
		}

		end := plan.Conclude(o)
		if left := end.Memory.Kept().Replaced; len(plan.Unexpected) > 0 || len(left) != step.remembered {
			t.Errorf("children %v: unexpected %v, remembered %v", step.children, plan.Unexpected, left)
		}

		s.Memory, s.CronJob.Status = end.Memory, end.Status
	}
}
