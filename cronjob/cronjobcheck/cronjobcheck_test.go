package cronjobcheck_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobcheck"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

func ptr[T any](v T) *T { return &v }

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func hour(n int) time.Time { return start.Add(time.Duration(n) * time.Hour) }

// snapshot returns an hourly CronJob at half past three. Its last run was at two.
func snapshot() *cronjob.Snapshot {
	spec := cronjob.Spec{Schedule: "@hourly"}
	cronjob.Default(&spec)
	c := cronjob.CronJob{Name: "c", UID: "c", CreationTimestamp: start, Spec: spec}
	c.Status.LastScheduleTime = hour(2)
	return &cronjob.Snapshot{CronJob: c, Now: hour(3).Add(30 * time.Minute), Schedule: cronjob.Compile(&c)}
}

// run returns the creation of a run's job.
func run(n int) cronjob.Creation {
	return cronjob.Creation{
		Name: cronjob.Naming{}.JobName("c", hour(n)), ScheduledTime: hour(n),
		Annotations: map[string]string{"batch.kubernetes.io/cronjob-scheduled-timestamp": hour(n).Format(time.RFC3339)},
	}
}

func child(n int) cronjob.Child {
	name := cronjob.Naming{}.JobName("c", hour(n))
	return cronjob.Child{Name: name, UID: job.UID(name), ScheduledTime: hour(n), CreationTimestamp: hour(n)}
}

func expect(t *testing.T, got []cronjobcheck.Violation, want string) {
	t.Helper()
	if want == "" && len(got) > 0 || want != "" && (len(got) == 0 || got[0].Rule != want) {
		t.Errorf("got %v, want %q", got, want)
	}
}

// TestPlan checks plans that break a rule, and some that break none.
func TestPlan(t *testing.T) {
	replace := cronjob.Deletion{Reference: cronjob.Reference{UID: child(2).UID}, Reason: cronjobreason.DeleteReplaced}
	forget := replace
	forget.Reason = cronjobreason.DeleteSuccessful

	active := func(s *cronjob.Snapshot) {
		s.Children = []cronjob.Child{child(2)}
		s.CronJob.Status.Active = []cronjob.Reference{{Name: child(2).Name, UID: child(2).UID}}
	}
	policy := func(p cronjob.ConcurrencyPolicy) func(*cronjob.Snapshot) {
		return func(s *cronjob.Snapshot) {
			active(s)
			s.CronJob.Spec.ConcurrencyPolicy = p
		}
	}
	whenGone := func(s *cronjob.Snapshot) {
		active(s)
		s.CronJob.Spec.ConcurrencyPolicy, s.Options.ReplaceWhenGone = cronjob.Replace, true
	}
	remembering := func(s *cronjob.Snapshot) {
		_ = s.Memory.UnmarshalJSON([]byte(`{"formatVersion":1,"cronJobUID":"c"}`)) // never fails
	}

	wrong := run(3)
	wrong.Name = "c-x"

	for _, c := range []struct {
		name string
		edit func(*cronjob.Snapshot)
		plan cronjob.Plan
		want string
	}{
		{name: "the latest run", plan: cronjob.Plan{Create: []cronjob.Creation{run(3)}}},
		{name: "a missed run", edit: func(s *cronjob.Snapshot) { s.Now = hour(9) }, plan: cronjob.Plan{Create: []cronjob.Creation{run(8)}}, want: "CI6"},
		{name: "a run twice", plan: cronjob.Plan{Create: []cronjob.Creation{run(3), run(3)}}, want: "CI6"},
		{name: "a run that is not due", plan: cronjob.Plan{Create: []cronjob.Creation{run(4)}}, want: "CI2"},
		{name: "a run under another name", plan: cronjob.Plan{Create: []cronjob.Creation{wrong}}, want: "CI2"},
		{name: "a run too late", edit: func(s *cronjob.Snapshot) { s.CronJob.Spec.StartingDeadlineSeconds = ptr[int64](60) },
			plan: cronjob.Plan{Create: []cronjob.Creation{run(3)}}, want: "CI7"},
		{name: "suspended", edit: func(s *cronjob.Snapshot) { s.CronJob.Spec.Suspend = ptr(true) }, plan: cronjob.Plan{Create: []cronjob.Creation{run(3)}}, want: "CI10"},
		{name: "Allow beside a job", edit: active, plan: cronjob.Plan{Create: []cronjob.Creation{run(3)}}},
		{name: "Forbid beside a job", edit: policy(cronjob.Forbid), plan: cronjob.Plan{Create: []cronjob.Creation{run(3)}}, want: "CI8"},
		{name: "Forbid beside a job that was not recorded", edit: func(s *cronjob.Snapshot) {
			policy(cronjob.Forbid)(s)
			s.CronJob.Status = cronjob.Status{LastScheduleTime: hour(1)}
		}, plan: cronjob.Plan{Create: []cronjob.Creation{run(3)}}, want: "CI8"},
		{name: "Replace without a deletion", edit: policy(cronjob.Replace), plan: cronjob.Plan{Create: []cronjob.Creation{run(3)}}, want: "CI8"},
		{name: "Replace", edit: policy(cronjob.Replace), plan: cronjob.Plan{Create: []cronjob.Creation{run(3)}, Delete: []cronjob.Deletion{replace}}},
		{name: "Replace without a deletion, of a job that is not seen", edit: func(s *cronjob.Snapshot) {
			policy(cronjob.Replace)(s)
			s.Children = nil
		}, plan: cronjob.Plan{Create: []cronjob.Creation{run(3)}}, want: "CI8"},
		{name: "Replace without a deletion, of a job that the memory may know", edit: func(s *cronjob.Snapshot) {
			policy(cronjob.Replace)(s)
			s.Children = nil
			remembering(s)
		}, plan: cronjob.Plan{Create: []cronjob.Creation{run(3)}}},
		{name: "ReplaceWhenGone", edit: whenGone, plan: cronjob.Plan{Create: []cronjob.Creation{run(3)}, Delete: []cronjob.Deletion{replace}}, want: "CI8"},
		{name: "ReplaceWhenGone, and the memory may know that the job is gone", edit: func(s *cronjob.Snapshot) {
			whenGone(s)
			remembering(s)
		}, plan: cronjob.Plan{Create: []cronjob.Creation{run(3)}, Delete: []cronjob.Deletion{replace}}},
		{name: "ReplaceWhenGone beside a job that is being deleted", edit: func(s *cronjob.Snapshot) {
			whenGone(s)
			remembering(s)
			s.Children[0].DeletionTimestamp = hour(3)
		}, plan: cronjob.Plan{Create: []cronjob.Creation{run(3)}, Delete: []cronjob.Deletion{replace}}, want: "CI8"},
		{name: "ReplaceWhenGone in a consistent snapshot", edit: func(s *cronjob.Snapshot) {
			whenGone(s)
			remembering(s)
			s.Consistent = true
		}, plan: cronjob.Plan{Create: []cronjob.Creation{run(3)}, Delete: []cronjob.Deletion{replace}}, want: "CI8"},
		{name: "the history deletes a job that runs", edit: active, plan: cronjob.Plan{Delete: []cronjob.Deletion{forget}}, want: "CI11"},
		{name: "the history deletes too many", edit: func(s *cronjob.Snapshot) {
			c := child(2)
			c.Finished = job.ConditionComplete
			s.Children = []cronjob.Child{c}
		}, plan: cronjob.Plan{Delete: []cronjob.Deletion{forget}}, want: "CI11"},
		{name: "again at once", plan: cronjob.Plan{Requeue: cronjob.Requeue{At: hour(3)}}, want: "CI9"},
		{name: "a backfill of nobody", plan: cronjob.Plan{Create: []cronjob.Creation{{Backfill: "b", ScheduledTime: hour(1)}}}, want: "CI2"},
		{name: "a backfill beside a job", edit: func(s *cronjob.Snapshot) {
			active(s)
			s.Backfills = []cronjob.Backfill{{ID: "b", After: start, Until: hour(2), Overlap: cronjob.Forbid}}
		}, plan: cronjob.Plan{Create: []cronjob.Creation{{Backfill: "b", ScheduledTime: hour(1)}}}, want: "CI8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := snapshot()
			if c.edit != nil {
				c.edit(s)
			}
			expect(t, cronjobcheck.Plan(s, &c.plan), c.want)
		})
	}
}

// TestState checks creations and statuses that break a rule, and some that break none.
func TestState(t *testing.T) {
	s := snapshot()
	s.CronJob.Spec.ConcurrencyPolicy = cronjob.Forbid
	st := cronjobcheck.State{CronJob: &s.CronJob, Options: &s.Options}
	c := run(3)
	expect(t, st.Create(&c), "")
	running := child(2)
	st.AddNeighbour(&running, hour(3))
	expect(t, st.Create(&c), "CI8")

	var h cronjobcheck.History
	expect(t, h.Started(c.Name, c.ScheduledTime), "")
	expect(t, st.Status(&cronjob.Status{LastScheduleTime: hour(3)}, h.HasStarted), "")
	expect(t, st.Status(&cronjob.Status{LastScheduleTime: hour(4)}, h.HasStarted), "CI4")
	expect(t, st.Status(&cronjob.Status{LastScheduleTime: hour(1)}, h.HasStarted), "CI4")
	again := h.Clone()
	expect(t, again.Started(c.Name, c.ScheduledTime), "CI1")
	expect(t, h.Started(c.Name, hour(4)), "")
	if runs := h.Runs(); len(runs) != 2 || !runs[1].Equal(hour(4)) {
		t.Errorf("runs %v", runs)
	}
	s.CronJob.Status.LastSuccessfulTime = hour(2)
	expect(t, st.Status(&cronjob.Status{LastScheduleTime: hour(2), LastSuccessfulTime: hour(1)}, h.HasStarted), "CI12")
}

// TestState_AddNeighbour: a running job counts if it was started by a run, a backfill or a trigger
// of this CronJob.
func TestState_AddNeighbour(t *testing.T) {
	type neighbours = cronjobcheck.Neighbours
	named := func(name string) cronjob.Child { return cronjob.Child{Name: name} }
	for _, test := range []struct {
		name    string
		cronJob string
		naming  cronjob.Naming
		child   cronjob.Child
		want    neighbours
	}{
		{"of a run", "c", cronjob.Naming{}, child(2), neighbours{Active: 1}},
		{"of a trigger", "c", cronjob.Naming{}, named("c-manual-a"), neighbours{Active: 1}},
		{"by hand", "c", cronjob.Naming{}, named("c-by-hand"), neighbours{}},
		{"by hand, with the infix later in the name", "c", cronjob.Naming{}, named("c-x-manual-a"), neighbours{}},
		{"by hand, of a CronJob whose name has the infix", "c-manual-x", cronjob.Naming{}, named("c-manual-x-b"), neighbours{}},
		{"of a trigger of such a CronJob", "c-manual-x", cronjob.Naming{}, named("c-manual-x-manual-a"), neighbours{Active: 1}},
		{"of a trigger, with a prefix", "c", cronjob.Naming{Prefix: "p-"}, named("p-c-manual-a"), neighbours{Active: 1}},
		{"by hand, without the prefix", "c", cronjob.Naming{Prefix: "p-"}, named("c-manual-a"), neighbours{}},
	} {
		s := snapshot()
		s.CronJob.Name, s.Options.Naming = test.cronJob, test.naming
		st := cronjobcheck.State{CronJob: &s.CronJob, Options: &s.Options}
		if st.AddNeighbour(&test.child, hour(3)); st.Neighbours != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, st.Neighbours, test.want)
		}
	}
}
