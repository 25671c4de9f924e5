package cronjob_test

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// C21: a job that has been terminating for TerminatingTimeout holds back no run, trigger or
// backfill any more. Until then a round is planned for the end of the timeout.
func TestC21_TerminatingTimeout(t *testing.T) {
	const timeout = time.Hour
	stuckAt := hours(1).Add(time.Minute).Add(timeout) // the job was deleted a minute after its run
	for _, tc := range []struct {
		name    string
		policy  cronjob.ConcurrencyPolicy
		options cronjob.Options
		ask     func(s *cronjob.Snapshot)
	}{
		{"Forbid", cronjob.Forbid, cronjob.Options{}, nil},
		{"Forbid without a list", cronjob.Forbid, cronjob.Options{ActiveFromChildren: true}, nil},
		{"MaxActive", cronjob.Allow, cronjob.Options{MaxActive: 1}, nil},
		{"ReplaceWhenGone", cronjob.Replace, cronjob.Options{ReplaceWhenGone: true}, nil},
		{"ReplaceWhenGone without a list", cronjob.Replace, cronjob.Options{ReplaceWhenGone: true, ActiveFromChildren: true}, nil},
		{"a trigger", cronjob.Allow, cronjob.Options{}, func(s *cronjob.Snapshot) {
			s.Triggers = []cronjob.Trigger{{ID: "x", Overlap: cronjob.Forbid}}
		}},
		{"a backfill", cronjob.Allow, cronjob.Options{}, func(s *cronjob.Snapshot) {
			s.Backfills = []cronjob.Backfill{{ID: "x", After: start.Add(-time.Hour), Until: start, Overlap: cronjob.Forbid}}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := in(second(tc.policy, leaving(child(hours(1)))), tc.options)
			s.Options.TerminatingTimeout = timeout
			if tc.ask != nil {
				s.CronJob.Status.LastScheduleTime = hours(2)
				tc.ask(&s)
			}
			if s.Options.ActiveFromChildren {
				s.CronJob.Status.Active = nil
			}

			s.Now = stuckAt.Add(-1)
			before := s
			plan, end := goOn(t, &before)
			if len(plan.Create) > 0 || !end.Requeue.At.Equal(stuckAt) || end.Requeue.Reason != cronjobreason.WaitTerminating {
				t.Fatalf("until the timeout the job holds it back, again at %s:\n%s", end.Requeue.At, plan.String())
			}

			s.Now = stuckAt
			plan, end = goOn(t, &s)
			if len(plan.Create) != 1 || len(plan.Delete) > 0 {
				t.Fatalf("at the timeout it starts:\n%s", plan.String())
			}
			isListed := !s.Options.ActiveFromChildren
			if said := slices.Contains(reasons(end.Events), "TerminatingJob"); said != isListed {
				t.Errorf("said %t, listed %t: %v", said, isListed, end.Events)
			}
			if slices.ContainsFunc(end.Status.Active, func(r cronjob.Reference) bool { return r.UID == child(hours(1)).UID }) {
				t.Errorf("the job is still in the active list: %v", end.Status.Active)
			}

			s.Children, s.Triggers = append(s.Children, made(&plan)), nil
			if plan := reconcile(t, s); len(plan.Unexpected)+len(plan.Events)+len(plan.Delete) > 0 {
				t.Errorf("afterwards nothing more is said or done about it:\n%s", plan.String())
			}
		})
	}
}

// C21: without a stored list and without runs, nothing waits for a job that will be stuck.
func TestC21_NothingWaits(t *testing.T) {
	for _, o := range []cronjob.Options{{}, {ActiveFromChildren: true}} {
		s := in(second(cronjob.Forbid, leaving(child(hours(1)))), o)
		s.CronJob.Spec.Suspend, s.Options.TerminatingTimeout = ptr(true), time.Hour
		if o.ActiveFromChildren {
			s.CronJob.Status.Active = nil
		}
		plan := reconcile(t, s)
		if waits := plan.Requeue.Reason == cronjobreason.WaitTerminating; waits == o.ActiveFromChildren {
			t.Errorf("no list %t, waits %t:\n%s", o.ActiveFromChildren, waits, &plan)
		}
	}
}

// made returns the child for the only creation of a plan.
func made(p *cronjob.Plan) cronjob.Child {
	c := &p.Create[0]
	return cronjob.Child{Name: c.Name, UID: cronjob.UID("uid-" + c.Name), ScheduledTime: c.ScheduledTime, Backfilled: c.Backfill != ""}
}

// C21: without the option, a job that is terminating counts until it is gone, and one that ends after
// the timeout still counts for the history.
func TestC21_Boundaries(t *testing.T) {
	s := second(cronjob.Forbid, leaving(child(hours(1))))
	s.Now = hours(2.9)
	if plan := reconcile(t, s); len(plan.Create) > 0 {
		t.Errorf("without the option it holds the run back:\n%s", plan.String())
	}

	s.Options.TerminatingTimeout = time.Hour
	s.Children[0].DeletionTimestamp = time.Time{}
	if plan := reconcile(t, s); len(plan.Create) > 0 {
		t.Errorf("a job that nobody deletes counts:\n%s", plan.String())
	}

	s.Children = []cronjob.Child{leaving(ended(1, cronjob.Complete))}
	plan, end := goOn(t, &s)
	if len(plan.Create) != 1 || !slices.Contains(reasons(end.Events), "SawCompletedJob") || end.Status.LastSuccessfulTime.IsZero() {
		t.Errorf("a job that has ended is seen as ended:\n%s", plan.String())
	}
}

// C21, C10: the job of the due run does not go away after its deletion, and the run was never
// recorded. The run is recorded and not started again, and its job is not listed as active.
func TestC21_UnrecordedRun(t *testing.T) {
	s := hourly(cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, hours(2.5), leaving(child(hours(2))))
	s.Options.TerminatingTimeout = time.Minute
	plan, end := goOn(t, &s)
	if len(plan.Create) > 0 || !end.Status.LastScheduleTime.Equal(hours(2)) || len(end.Status.Active) > 0 {
		t.Errorf("status %+v\n%s", end.Status, plan.String())
	}
	if got := reasons(end.Events); slices.Contains(got, "UnexpectedJob") {
		t.Errorf("its own job is unexpected: %v", got)
	}

	s.Now = hours(3)
	if got := created(t, reconcile(t, s)); !got.Equal(hours(3)) {
		t.Errorf("got %s, want the next run", got)
	}
	s.Children[0] = finished(s.Children[0], job.ConditionFailed, hours(3))
	if got := created(t, reconcile(t, s)); !got.Equal(hours(3)) {
		t.Errorf("got %s, want the next run", got)
	}
}

// C21: a round waits only for a job that holds something back. If the timeouts of several such jobs
// end at the same time, the wait names the same job for any order of the children (B3).
func TestC21_WaitsOnlyForWhatCounts(t *testing.T) {
	other := child(hours(1))
	other.Name, other.UID = "report-manual-x", "other"
	two := second(cronjob.Forbid, leaving(child(hours(1))), leaving(other))
	two.CronJob.Status.Active = append(two.CronJob.Status.Active, ref(other))
	suspended := second(cronjob.Forbid, leaving(child(hours(1))))
	suspended.CronJob.Spec.Suspend = ptr(true)
	unlisted := second(cronjob.Replace, leaving(child(hours(1))))
	unlisted.CronJob.Status = cronjob.Status{LastScheduleTime: hours(2)}

	for name, tc := range map[string]struct {
		s     cronjob.Snapshot
		waits string // the job that is waited for
	}{
		"two jobs":                           {two, child(hours(1)).Name},
		"suspended":                          {suspended, child(hours(1)).Name},
		"Replace has taken it from the list": {unlisted, ""},
	} {
		tc.s.Options.TerminatingTimeout = 2 * time.Hour
		plan := reconcile(t, tc.s)
		i := slices.IndexFunc(plan.Waits, func(w cronjob.Wait) bool { return w.Reason == cronjobreason.WaitTerminating })
		if got := ""; i >= 0 {
			got = plan.Waits[i].Name
			if got != tc.waits {
				t.Errorf("%s: waits for %q", name, got)
			}
		} else if tc.waits != "" {
			t.Errorf("%s: no wait\n%s", name, plan.String())
		}
	}
}

// C21: a stuck job has left the active list. If the timeout is raised, no event calls the job
// unexpected. A trigger's job that was stuck holds nothing back once it is gone, even if the reply
// to the status was lost.
func TestC21_Afterwards(t *testing.T) {
	s := second(cronjob.Forbid, leaving(child(hours(1))))
	s.Options.TerminatingTimeout = time.Hour
	s.Now = hours(2.1)
	plan, _ := goOn(t, &s)
	s.Children = append(s.Children, made(&plan))
	s.Options.TerminatingTimeout = 5 * time.Hour
	if plan := reconcile(t, s); len(plan.Unexpected) > 0 {
		t.Errorf("the job that has left the list is unexpected:\n%s", plan.String())
	}

	s = hourly(cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, hours(0.5))
	s.Options.TerminatingTimeout, s.Triggers = time.Minute, []cronjob.Trigger{{ID: "x"}}
	plan, _ = goOn(t, &s)
	stuck := made(&plan)
	stuck.DeletionTimestamp = hours(0.6)
	s.Children, s.Triggers, s.Now = []cronjob.Child{stuck}, nil, hours(0.9)
	plan = reconcile(t, s)
	o := done(&plan)
	o.Settled = cronjob.Reply{Result: cronjobreason.ResultUnsuccessful} // the status was written
	end := plan.Conclude(o)
	s.Memory, s.CronJob.Status.Active, s.Children, s.Now = end.Memory, nil, nil, hours(1)
	if got := created(t, reconcile(t, s)); !got.Equal(hours(1)) {
		t.Errorf("got %s, want the next run; the memory has %+v", got, s.Memory.Kept())
	}
}
