package cronjob_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/schedule"
)

func TestCI16_SkipOnResume(t *testing.T) {
	for _, skip := range []bool{false, true} {
		s := in(hourly(cronjob.Spec{Suspend: ptr(true)}, hours(2.5)), cronjob.Options{SkipOnResume: skip})
		for _, now := range []float64{2.5, 5.5} {
			s.Now = hours(now)
			if remember(t, &s); s.Memory.Kept().Since.Equal(s.Now) != skip {
				t.Errorf("skip %t: at %v runs count since %s", skip, now, s.Memory.Kept().Since)
			}
			s.CronJob.Spec.Suspend = ptr(false)
		}
		plan := reconcile(t, s)
		if got := created(t, plan).IsZero(); got != skip {
			t.Errorf("skip %t: %s", skip, plan.String())
		}
		s.Now = hours(6)
		if got := created(t, reconcile(t, s)); !got.Equal(hours(6)) {
			t.Errorf("skip %t: the next run starts, got %s", skip, got)
		}
	}
}

// If the controller was down between a change and its next round, it sets aside runs that were due
// before the change, but not later ones.
func TestSkipOnResume_RunsAfterTheResume(t *testing.T) {
	for _, tc := range []struct {
		name    string
		resumed time.Time
		want    time.Time
		since   float64
	}{
		{"resumed at 4:30", hours(4.5), hours(5), 4.5},
		{"resumed after the run", hours(5.2), time.Time{}, 5.2},
		{"resumed, says a clock that is ahead", hours(7), time.Time{}, 5.5},
		{"at an unknown time", time.Time{}, time.Time{}, 5.5},
		{"changed before it was seen suspended", hours(1), hours(5), 2.5},
	} {
		s := in(hourly(cronjob.Spec{Suspend: ptr(true)}, hours(2.5)), cronjob.Options{SkipOnResume: true})
		remember(t, &s)
		s.CronJob.Spec.Suspend, s.CronJob.SpecChanged, s.Now = ptr(false), tc.resumed, hours(5.5)
		plan := reconcile(t, s)
		if got, since := created(t, plan), plan.Basis().Memory.Since; !got.Equal(tc.want) || !since.Equal(hours(tc.since)) {
			t.Errorf("%s: got %s, runs count since %s", tc.name, got, since)
		}
	}
}

// A daily schedule is edited from 12:00 to 4:00, and the round at 5:00 sees the edit. The run of
// 4:00 starts if the edit was made before 4:00, or if SkipOnEdit is off. A change of the schedules
// that Also adds is an edit as well.
func TestCI16_SkipOnEdit(t *testing.T) {
	also := func(spec string) []schedule.Option { return []schedule.Option{schedule.Also(spec)} }

	for _, tc := range []struct {
		name          string
		skip          bool
		before, after string
		edited        time.Time
		old, next     []schedule.Option
		starts        bool
	}{
		{"edits count", true, "0 12 * * *", "0 4 * * *", time.Time{}, nil, nil, false},
		{"edits do not count", false, "0 12 * * *", "0 4 * * *", time.Time{}, nil, nil, true},
		{"edited before 4:00", true, "0 12 * * *", "0 4 * * *", hours(3.5), nil, nil, true},
		{"edited after 4:00", true, "0 12 * * *", "0 4 * * *", hours(4.5), nil, nil, false},
		{"what is added has changed", true, "0 12 * * *", "0 12 * * *", time.Time{}, also("0 6 * * *"), also("0 4 * * *"), false},
		{"what is added is the same", true, "0 12 * * *", "0 12 * * *", time.Time{}, also("0 4 * * *"), also("0 4 * * *"), true},
	} {
		s := in(snapshot(newCronJob(cronjob.Spec{Schedule: tc.before}), hours(3)), cronjob.Options{SkipOnEdit: tc.skip})
		s.Schedule = cronjob.Compile(&s.CronJob, tc.old...)
		remember(t, &s)

		s.CronJob.Spec.Schedule, s.CronJob.SpecChanged, s.Now = tc.after, tc.edited, hours(5)
		s.Schedule = cronjob.Compile(&s.CronJob, tc.next...)
		if plan := reconcile(t, s); created(t, plan).Equal(hours(4)) != tc.starts {
			t.Errorf("%s: want a run %t:\n%s", tc.name, tc.starts, &plan)
		}
	}
}

// A change to a schedule that does not parse is an edit, and so is the reverse.
func TestSkipOnEdit_Unparseable(t *testing.T) {
	s := in(hourly(cronjob.Spec{}, start), cronjob.Options{SkipOnEdit: true})
	for i, tc := range []struct {
		schedule string
		now      float64
		want     bool
	}{{"@hourly", 0.5, false}, {"soon", 1.5, false}, {"@hourly", 2.5, false}, {"@hourly", 3.5, true}} {
		s.CronJob.Spec.Schedule, s.Now = tc.schedule, hours(tc.now)
		s.Schedule = cronjob.Compile(&s.CronJob)
		if got := !created(t, remember(t, &s)).IsZero(); got != tc.want {
			t.Errorf("step %d: starts %t", i, got)
		}
	}
}
