package cronjob_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/schedule"
)

func TestCI16_SkipOnResume(t *testing.T) {
	for _, skip := range []bool{false, true} {
		c := newCronJob(cronjob.Spec{Schedule: "@hourly", Suspend: ptr(true)})
		s := snapshot(c, hours(2.5))
		s.Options.SkipOnResume = skip
		plan := reconcile(t, s)
		s.Memory = plan.Conclude(cronjob.Outcome{}).Memory
		s.CronJob.Spec.Suspend, s.Now = ptr(false), hours(5.5)
		plan = reconcile(t, s)
		if got := created(t, plan).IsZero(); got != skip {
			t.Errorf("skip %t: %s", skip, plan.String())
		}
		s.Memory, s.Now = plan.Conclude(cronjob.Outcome{}).Memory, hours(6)
		if got := created(t, reconcile(t, s)); !got.Equal(hours(6)) {
			t.Errorf("skip %t: the next run starts, got %s", skip, got)
		}
	}
}

// A controller that was down between a change and its next round sets aside what came
// due before the change, not what came due after it.
func TestSkipOnResume_RunsAfterTheResume(t *testing.T) {
	for _, tc := range []struct {
		name    string
		resumed time.Time
		want    time.Time
	}{
		{"resumed at 4:30", hours(4.5), hours(5)},
		{"resumed after the run", hours(5.2), time.Time{}},
		{"resumed, says a clock that is ahead", hours(7), time.Time{}},
		{"at an unknown time", time.Time{}, time.Time{}},
		{"changed before it was seen suspended", hours(1), hours(5)},
	} {
		s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly", Suspend: ptr(true)}), hours(2.5))
		s.Options.SkipOnResume = true
		plan := reconcile(t, s)
		s.Memory = plan.Conclude(cronjob.Outcome{}).Memory
		s.CronJob.Spec.Suspend, s.CronJob.SpecChanged, s.Now = ptr(false), tc.resumed, hours(5.5)
		if got := created(t, reconcile(t, s)); !got.Equal(tc.want) {
			t.Errorf("%s: got %s", tc.name, got)
		}
	}
}

func TestCI16_SkipOnEdit(t *testing.T) {
	for _, skip := range []bool{false, true} {
		c := newCronJob(cronjob.Spec{Schedule: "0 12 * * *"})
		s := snapshot(c, hours(5))
		s.Options.SkipOnEdit = skip
		plan := reconcile(t, s)
		memory := plan.Conclude(cronjob.Outcome{}).Memory
		c.Spec.Schedule = "0 4 * * *" // which was an hour and a half ago
		options := s.Options
		s = snapshot(c, hours(5.5))
		s.Options, s.Memory = options, memory
		if got := created(t, reconcile(t, s)).IsZero(); got != skip {
			t.Errorf("skip %t: nothing starts: %t", skip, got)
		}
	}
}

// A change of the schedules that Also adds is also an edit.
func TestSkipOnEdit_CombinedSchedules(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "0 12 * * *"})
	for _, opts := range [][]schedule.Option{{schedule.Also("0 6 * * *")}, {schedule.Also("0 4 * * *")}} {
		s := snapshot(c, hours(5))
		s.Schedule = cronjob.Compile(&c, schedule.Also("0 6 * * *"))
		s.Options.SkipOnEdit = true
		plan := reconcile(t, s)
		s.Memory, s.Now = plan.Conclude(cronjob.Outcome{}).Memory, hours(6.5)
		s.Schedule = cronjob.Compile(&c, opts...)
		changed := s.Schedule.Schedule.String() != plan.Basis().Memory.Schedule
		if got := created(t, reconcile(t, s)).IsZero(); got != changed {
			t.Errorf("changed %t: nothing starts: %t", changed, got)
		}
	}
}

// A schedule that does not parse is an edit, and so is the way back.
func TestSkipOnEdit_Unparseable(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	memory, options := cronjob.Memory{}, cronjob.Options{SkipOnEdit: true}
	for i, tc := range []struct {
		schedule string
		now      float64
		want     bool
	}{{"@hourly", 0.5, false}, {"soon", 1.5, false}, {"@hourly", 2.5, false}, {"@hourly", 3.5, true}} {
		c.Spec.Schedule = tc.schedule
		s := snapshot(c, hours(tc.now))
		s.Memory, s.Options = memory, options
		plan := reconcile(t, s)
		memory = plan.Conclude(cronjob.Outcome{}).Memory
		if got := !created(t, plan).IsZero(); got != tc.want {
			t.Errorf("step %d: starts %t", i, got)
		}
	}
}

func TestSkipOnEdit_RunsAfterTheEdit(t *testing.T) {
	for _, tc := range []struct {
		edited, want time.Time
	}{{hours(3.5), hours(4)}, {hours(4.5), time.Time{}}, {time.Time{}, time.Time{}}} {
		c := newCronJob(cronjob.Spec{Schedule: "0 12 * * *"})
		s := snapshot(c, hours(3))
		s.Options.SkipOnEdit = true
		plan := reconcile(t, s)
		memory, options := plan.Conclude(cronjob.Outcome{}).Memory, s.Options
		c.Spec.Schedule, c.SpecChanged = "0 4 * * *", tc.edited
		s = snapshot(c, hours(5))
		s.Options, s.Memory = options, memory
		if got := created(t, reconcile(t, s)); !got.Equal(tc.want) {
			t.Errorf("edited at %s: got %s", tc.edited, got)
		}
	}
}
