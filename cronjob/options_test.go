package cronjob_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

func hours(n float64) time.Time { return start.Add(time.Duration(n * float64(time.Hour))) }

// starts lets a world in which all writes work and jobs run for ever plan n times
// without time passing, and returns the hours of the runs that it starts.
func starts(t *testing.T, s cronjob.Snapshot, n int) []float64 {
	t.Helper()
	var all []float64
	for range n {
		plan := reconcile(t, s)
		for _, c := range plan.Create {
			all = append(all, c.ScheduledTime.Sub(start).Hours())
			s.Children = append(s.Children, child(c.ScheduledTime))
		}
		o := done(&plan)
		s.CronJob.Status = plan.Settle(o.Writes).Status
		end := plan.Conclude(o)
		if more := end.Requeue.At.Equal(s.Now); more && len(plan.Create) == 0 {
			t.Fatal("a hot loop")
		}
		s.Memory = end.Memory
	}
	return all
}

func TestCatchUp(t *testing.T) {
	for _, tc := range []struct {
		name     string
		options  cronjob.Options
		policy   cronjob.ConcurrencyPolicy
		now      float64
		want     []float64
		deadline *int64
	}{
		{"the latest by default", cronjob.Options{}, "", 5.5, []float64{5}, nil},
		{"none, too late", cronjob.Options{CatchUp: cronjob.CatchUpNone}, "", 5.5, nil, nil},
		{"none, in time", cronjob.Options{CatchUp: cronjob.CatchUpNone}, "", 5.001, []float64{5}, nil},
		{"none, a wide window", cronjob.Options{CatchUp: cronjob.CatchUpNone, CatchUpWindow: time.Hour}, "", 5.5, []float64{5}, nil},
		{"all, the oldest first", cronjob.Options{CatchUp: cronjob.CatchUpAll}, "", 5.5, []float64{1, 2, 3, 4, 5}, nil},
		{"all within a window", cronjob.Options{CatchUp: cronjob.CatchUpAll, CatchUpWindow: 3 * time.Hour}, "", 5.5, []float64{3, 4, 5}, nil},
		{"all up to a limit", cronjob.Options{CatchUp: cronjob.CatchUpAll, CatchUpLimit: 2}, "", 5.5, []float64{4, 5}, nil},
		{"all within the deadline", cronjob.Options{CatchUp: cronjob.CatchUpAll}, "", 5.5, []float64{4, 5}, ptr[int64](7200)},
		{"all, in line behind the first", cronjob.Options{CatchUp: cronjob.CatchUpAll}, cronjob.Forbid, 5.5, []float64{1}, nil},
		{"at most two at a time", cronjob.Options{CatchUp: cronjob.CatchUpAll, MaxActive: 2}, "", 5.5, []float64{1, 2}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: tc.policy, StartingDeadlineSeconds: tc.deadline})
			s := snapshot(c, hours(tc.now))
			s.Options = tc.options
			if got := starts(t, s, 8); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// A name that somebody else has must not stop the runs behind it.
func TestCatchUpPassesATakenName(t *testing.T) {
	for _, seen := range []bool{true, false} {
		s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(3.5))
		s.Options.CatchUp = cronjob.CatchUpAll
		if foreign := child(hours(1)); seen {
			foreign.Owner = cronjob.Foreign
			s.Children = []cronjob.Child{foreign}
		}
		plan := reconcile(t, s)
		o := cronjob.Outcome{Writes: cronjob.Writes{Created: []cronjob.Effect{{Result: cronjob.NameTaken}}}}
		s.Memory = plan.Conclude(o).Memory
		if got := created(t, reconcile(t, s)); !got.Equal(hours(2)) {
			t.Errorf("seen %t: got %s", seen, got)
		}
	}
}

func TestSkipOnResume(t *testing.T) {
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

func TestSkipOnEdit(t *testing.T) {
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

// An edit of the schedules beside that of the spec is an edit, too.
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

// A time that two schedules share is one run; what is taken out does not run, and
// does not count as missed.
func TestCompile_SeveralSchedules(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "0 */2 * * *"})
	s := snapshot(c, hours(6.5))
	s.Schedule = cronjob.Compile(&c, schedule.Also("0 */3 * * *"), schedule.Except("* 4 * * *"))
	s.Options.CatchUp = cronjob.CatchUpAll
	if got, want := starts(t, s, 5), []float64{2, 3, 6}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	s.Schedule = cronjob.Compile(&c, schedule.Also("0 0 * * 7"))
	if s.Schedule.Problem != cronjob.UnparseableSchedule || !strings.Contains(s.Schedule.Message, "0 0 * * 7") {
		t.Errorf("%+v", s.Schedule)
	}
}

func TestSkipHeld(t *testing.T) {
	first := child(hours(1))
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Forbid})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(first)}, LastScheduleTime: hours(1)}
	s := snapshot(c, hours(2), first)
	s.Options.SkipHeld = true
	plan := reconcile(t, s)
	s.Memory = plan.Conclude(done(&plan)).Memory
	s.Children[0], s.Now = finished(first, job.Complete, hours(2.2)), hours(2.3)
	if got := created(t, reconcile(t, s)); !got.IsZero() {
		t.Errorf("the run of %s starts late", got)
	}
	s.Now = hours(3)
	if got := created(t, reconcile(t, s)); !got.Equal(hours(3)) {
		t.Errorf("the next run starts: got %s", got)
	}
}

func TestReplaceWhenGone(t *testing.T) {
	first := child(hours(1))
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(first)}, LastScheduleTime: hours(1)}
	s := snapshot(c, hours(2), first)
	s.Options.ReplaceWhenGone = true
	plan := reconcile(t, s)
	if len(plan.Create) > 0 || len(plan.Delete) != 1 || !plan.Delete[0].Foreground {
		t.Fatal(plan.String())
	}
	s.CronJob.Status = plan.Settle(done(&plan).Writes).Status
	s.Children[0].DeletionTimestamp = s.Now
	if plan := reconcile(t, s); len(plan.Create)+len(plan.Delete) > 0 {
		t.Errorf("its pods still run: %s", plan.String())
	}
	s.Children = nil
	if got := created(t, reconcile(t, s)); !got.Equal(hours(2)) {
		t.Errorf("now it starts: got %s", got)
	}
}

// C7: a run that its jitter holds back is not late by it.
func TestJitter_ProlongsTheDeadline(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly", StartingDeadlineSeconds: ptr[int64](60)}), hours(1.5))
	s.Options.Jitter = 30 * time.Minute
	if got := created(t, reconcile(t, s)); !got.Equal(hours(1)) {
		t.Errorf("half an hour late, got %s", got)
	}
	s.Now = hours(1.5).Add(2 * time.Minute)
	if got := created(t, reconcile(t, s)); !got.IsZero() {
		t.Errorf("later than deadline and jitter together, got %s", got)
	}
}

// No run is no run, whatever its jitter.
func TestJitter_WithoutAnyRun(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "0 0 30 2 *"}), hours(1))
	s.Options.Jitter = time.Hour
	if plan := reconcile(t, s); !plan.Requeue.At.IsZero() || len(plan.Create) > 0 {
		t.Errorf("got\n%s", plan.String())
	}
}

func TestJitter(t *testing.T) {
	delays := map[time.Duration]bool{}
	for _, uid := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
		c.UID = uid
		s := snapshot(c, hours(0.5))
		s.Options.Jitter = 3 * time.Hour // cut to the hour between runs
		at := reconcile(t, s).Requeue.At.Add(-100 * time.Millisecond)
		delay := at.Sub(hours(1))
		if delay < 0 || delay >= time.Hour {
			t.Errorf("%s: delay %s", uid, delay)
		}
		delays[delay] = true
		s.Now = at.Add(-1)
		if got := created(t, reconcile(t, s)); !got.IsZero() {
			t.Errorf("%s: starts before its time", uid)
		}
		s.Now = at
		if got := created(t, reconcile(t, s)); !got.Equal(hours(1)) {
			t.Errorf("%s: at its time got %s", uid, got)
		}
		s.Now = hours(2)
		if got := created(t, reconcile(t, s)); !got.Equal(hours(1)) {
			t.Errorf("%s: the run before waits no longer, got %s", uid, got)
		}
	}
	if len(delays) != 8 {
		t.Errorf("%d delays for 8 UIDs", len(delays))
	}
}

func TestKeepByAge(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@daily"})
	c.Status.LastScheduleTime = hours(3)
	s := snapshot(c, hours(4), finished(child(hours(1)), job.Complete, hours(1)), finished(child(hours(3)), job.Complete, hours(3)))
	s.Options.KeepSuccessful = 2 * time.Hour
	plan := reconcile(t, s)
	if len(plan.Delete) != 1 || plan.Delete[0].Reason != cronjob.DeleteExpired || !plan.Requeue.At.Equal(hours(5)) {
		t.Error(plan.String())
	}
}

func TestTrigger(t *testing.T) {
	running := child(hours(1))
	c := newCronJob(cronjob.Spec{Schedule: "@daily", Suspend: ptr(true)})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(running)}, LastScheduleTime: hours(1)}
	s := snapshot(c, hours(2), running)
	s.Triggers = []cronjob.Trigger{{ID: "b", Overlap: cronjob.Forbid}, {ID: "a"}, {ID: "a"}}
	plan := reconcile(t, s)
	if len(plan.Create) != 1 || plan.Create[0].Name != "report-manual-a" {
		t.Fatal(plan.String())
	}
	if got := plan.Create[0].Annotations; len(got) != 1 || got["cronjob.kubernetes.io/instantiate"] != "manual" {
		t.Errorf("annotations %v", got)
	}
	o := done(&plan)
	if got := plan.Conclude(o).Triggered; !slices.Equal(got, []string{"a"}) {
		t.Errorf("triggered %q", got)
	}
	status := plan.Settle(o.Writes).Status
	if len(status.Active) != 2 || !status.LastScheduleTime.Equal(hours(1)) {
		t.Error(status)
	}
	// A crash before the status write: the job is found and not started again.
	made := cronjob.Child{Name: "report-manual-a", UID: "u"}
	s.Children = append(s.Children, made)
	plan = reconcile(t, s)
	if len(plan.Create) > 0 || len(plan.Settle(cronjob.Writes{}).Status.Active) != 2 {
		t.Error(plan.String())
	}
	for _, bad := range []cronjob.Trigger{{}, {ID: "x", Overlap: cronjob.Replace}} {
		s.Triggers = []cronjob.Trigger{bad}
		if _, err := cronjob.Reconcile(s); err == nil {
			t.Errorf("%+v is accepted", bad)
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

// The server notes who wrote what and when; the status is not the spec.
func TestDecodeCronJob_SpecChanged(t *testing.T) {
	c, err := cronjob.DecodeCronJob([]byte(`{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"a","managedFields":[
		{"manager":"kubectl","operation":"Update","time":"2026-01-01T02:00:00Z"},
		{"manager":"kubectl-edit","operation":"Update","time":"2026-01-01T03:00:00Z"},
		{"manager":"kube-controller-manager","operation":"Update","subresource":"status","time":"2026-01-01T04:00:00Z"}]}}`))
	if err != nil || !c.SpecChanged.Equal(hours(3)) {
		t.Errorf("%s, %v", c.SpecChanged, err)
	}
}

// A counter adds up what the metrics say: each missed run counts once, though a run that is
// held makes each round look back over the same ones.
func TestFacts_MissedCountsOnce(t *testing.T) {
	running := child(hours(1))
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Forbid})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(running)}, LastScheduleTime: hours(1)}
	s := snapshot(c, start, running)
	for _, tc := range []struct {
		now       float64
		seen, new int
	}{{4.1, 2, 2}, {4.2, 2, 0}, {4.9, 2, 0}, {5, 3, 1}, {7.5, 5, 2}} {
		s.Now = hours(tc.now)
		plan := reconcile(t, s)
		end := plan.Conclude(cronjob.Outcome{})
		if plan.Missed.Count != tc.seen || end.Metrics.Missed != tc.new {
			t.Errorf("at %v: %d missed, %d of them new; want %d and %d", tc.now, plan.Missed.Count, end.Metrics.Missed, tc.seen, tc.new)
		}
		s.Memory = end.Memory
	}
}
