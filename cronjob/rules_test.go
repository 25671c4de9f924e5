package cronjob_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
)

func TestC1_Validate(t *testing.T) {
	for _, tc := range []struct {
		name   string
		spec   cronjob.Spec
		fields []string
	}{
		{"a valid spec", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("Asia/Shanghai")}, nil},
		{"no schedule", cronjob.Spec{}, []string{"spec.schedule"}},
		{"six fields", cronjob.Spec{Schedule: "0 0 0 * * *"}, []string{"spec.schedule"}},
		{"a zone in the schedule", cronjob.Spec{Schedule: "TZ=UTC @daily"}, []string{"spec.schedule"}},
		{"the machine's zone", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("local")}, []string{"spec.timeZone"}},
		{"a zone with a point as a part", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("Europe/./Berlin")}, []string{"spec.timeZone"}},
		{"a zone with two slashes", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("Europe//Berlin")}, []string{"spec.timeZone"}},
		{"an empty zone", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("")}, []string{"spec.timeZone"}},
		{"an unknown zone", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("Mars/Base")}, []string{"spec.timeZone"}},
		{"all at once", cronjob.Spec{
			Schedule: "61 * * * *", TimeZone: ptr("x"), ConcurrencyPolicy: "Maybe", StartingDeadlineSeconds: ptr[int64](-1),
			SuccessfulJobsHistoryLimit: ptr[int32](-1), FailedJobsHistoryLimit: ptr[int32](-2),
		}, []string{
			"spec.schedule", "spec.timeZone", "spec.concurrencyPolicy", "spec.startingDeadlineSeconds",
			"spec.successfulJobsHistoryLimit", "spec.failedJobsHistoryLimit",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cronjob.Default(&tc.spec)
			if got := fields(cronjob.Validate(tc.spec)); !slices.Equal(got, tc.fields) {
				t.Errorf("got %q, want %q", got, tc.fields)
			}
		})
	}
}

// fields lists the fields that an error names. An error whose value reads like a
// problem has exchanged the two.
func fields(err error) []string {
	var all []string
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			all = append(all, fields(e)...)
		}
		return all
	}
	var input *cronjob.InputError
	if errors.As(err, &input) {
		all = append(all, input.Field)
		if value := strings.Trim(input.Value, "\""); strings.HasPrefix(value, "must ") || strings.HasPrefix(value, "is ") {
			all = append(all, "value and problem are exchanged")
		}
	}
	return all
}

func TestC1_Default(t *testing.T) {
	var spec cronjob.Spec
	cronjob.Default(&spec)
	want := cronjob.Spec{
		ConcurrencyPolicy: cronjob.Allow, Suspend: ptr(false),
		SuccessfulJobsHistoryLimit: ptr[int32](3), FailedJobsHistoryLimit: ptr[int32](1),
	}
	if diff := cmp.Diff(want, spec); diff != "" {
		t.Error(diff)
	}
}

func TestC1_ForeignJobsAreNotTouched(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", SuccessfulJobsHistoryLimit: ptr[int32](0)})
	foreign := finished(child(start), job.Complete, start)
	foreign.Owner = cronjob.Foreign
	plan := reconcile(t, snapshot(c, start.Add(time.Minute), foreign))
	if len(plan.Delete) > 0 || plan.Settle(cronjob.Writes{}).Write {
		t.Error(plan.String())
	}
}

func TestC2_CI11_HistoryDeletesTheOldest(t *testing.T) {
	now := start.Add(10 * time.Hour)
	var children []cronjob.Child
	for i := range 5 {
		run := start.Add(time.Duration(i+1) * time.Hour)
		children = append(children, finished(child(run), job.Complete, run.Add(time.Minute)))
	}
	children[0].StartTime = time.Time{} // never started: forgotten last
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", SuccessfulJobsHistoryLimit: ptr[int32](2)})
	c.Status.LastScheduleTime = now
	slices.Reverse(children)
	plan := reconcile(t, snapshot(c, now, children...))
	var got []string
	for _, d := range plan.Delete {
		got = append(got, d.Name)
	}
	want := []string{"report-29453880", "report-29453940", "report-29454000"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}

	c.Spec.SuccessfulJobsHistoryLimit = nil
	if plan := reconcile(t, snapshot(c, now, children...)); len(plan.Delete) > 0 {
		t.Error("a nil limit keeps all")
	}
}

// The job of a run that is not recorded is its only trace.
func TestC2_CI1_HistoryKeepsWhatIsNotRecorded(t *testing.T) {
	run := start.Add(time.Hour)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", SuccessfulJobsHistoryLimit: ptr[int32](0)})
	s := snapshot(c, run.Add(time.Minute), finished(child(run), job.Complete, run))
	plan := reconcile(t, s)
	if len(plan.Delete)+len(plan.Create) > 0 {
		t.Fatal(plan.String())
	}
	outcome := cronjob.Outcome{Settled: cronjob.Done}
	settled := plan.Settle(outcome.Writes)
	if !settled.Write || !settled.Status.LastScheduleTime.Equal(run) {
		t.Fatal(settled.Status)
	}
	if end := plan.Conclude(outcome); !end.Requeue.At.Equal(s.Now) {
		t.Errorf("again at %s, want at once", end.Requeue.At)
	}
	s.CronJob.Status = settled.Status
	if plan := reconcile(t, s); len(plan.Delete) != 1 {
		t.Error(plan.String())
	}
}

func TestC3_UnexpectedJob(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	stranger := cronjob.Child{Name: "by-hand", UID: "u"}
	plan := reconcile(t, snapshot(c, start.Add(time.Minute), stranger))
	if got := reasons(plan.Events); !slices.Equal(got, []string{"UnexpectedJob"}) || len(plan.Unexpected) != 1 {
		t.Error(plan.String())
	}
	if plan.Settle(cronjob.Writes{}).Write || len(plan.Delete) > 0 {
		t.Error("it is left alone")
	}
}

func TestC4_CI12_FinishedJobsLeave(t *testing.T) {
	run, end := start.Add(time.Hour), start.Add(90*time.Minute)
	for _, tc := range []struct {
		name   string
		quirks cronjobquirk.Set
		how    job.ConditionType
		before time.Time
		want   time.Time
	}{
		{"success moves the time forward", 0, job.Complete, start, end},
		{"and never back", 0, job.Complete, end.Add(time.Hour), end.Add(time.Hour)},
		{"failure does not move it", 0, job.Failed, start, start},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
			c.Status = cronjob.Status{Active: []cronjob.Reference{ref(child(run))}, LastScheduleTime: run, LastSuccessfulTime: tc.before}
			s := snapshot(c, end, finished(child(run), tc.how, end))
			s.Options.Quirks = tc.quirks
			plan := reconcile(t, s)
			status := plan.Settle(cronjob.Writes{}).Status
			if len(status.Active) > 0 || !status.LastSuccessfulTime.Equal(tc.want) {
				t.Error(status)
			}
			if got := reasons(plan.Events); !slices.Equal(got, []string{"SawCompletedJob"}) {
				t.Error(got)
			}
		})
	}
}

func TestC5_CI5_MissingJobsAreLookedUp(t *testing.T) {
	run := start.Add(time.Hour)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Forbid})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(child(run))}, LastScheduleTime: run}
	s := snapshot(c, run.Add(time.Hour))
	plan := reconcile(t, s)
	if len(plan.Verify) != 1 || len(plan.Create) > 0 {
		t.Fatal(plan.String())
	}
	for _, tc := range []struct {
		result cronjob.Result
		left   int
		again  time.Time
		retry  bool
	}{
		{cronjob.Gone, 0, s.Now, false},
		{cronjob.Done, 1, plan.Requeue.At, false},
		{cronjob.Unsuccessful, 1, plan.Requeue.At, true},
	} {
		o := cronjob.Outcome{Writes: cronjob.Writes{Verified: []cronjob.Result{tc.result}}, Settled: cronjob.Done}
		end := plan.Conclude(o)
		if n := len(plan.Settle(o.Writes).Status.Active); n != tc.left || !end.Requeue.At.Equal(tc.again) || end.Retry != tc.retry {
			t.Errorf("%s: %d left, again at %s, retry %t", tc.result, n, end.Requeue.At, end.Retry)
		}
	}
}

func TestC6_CI10_NothingStarts(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*cronjob.CronJob)
		events []string
		wait   cronjob.WaitReason
	}{
		{"deleted", func(c *cronjob.CronJob) { c.DeletionTimestamp = start }, nil, cronjob.WaitDeleted},
		{"suspended", func(c *cronjob.CronJob) { c.Spec.Suspend = ptr(true) }, nil, cronjob.WaitSuspended},
		{"unknown zone", func(c *cronjob.CronJob) { c.Spec.TimeZone = ptr("Mars/Base") }, []string{"UnknownTimeZone"}, cronjob.WaitNoSchedule},
		{"unparseable", func(c *cronjob.CronJob) { c.Spec.Schedule = "soon" }, []string{"UnparseableSchedule"}, cronjob.WaitNoSchedule},
		{"never", func(c *cronjob.CronJob) { c.Spec.Schedule = "0 0 31 2 *" }, []string{"InvalidSchedule"}, cronjob.WaitNever},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
			tc.change(&c)
			plan := reconcile(t, snapshot(c, start.Add(5*time.Hour)))
			if len(plan.Create) > 0 || !plan.Requeue.At.IsZero() || len(plan.Waits) != 1 || plan.Waits[0].Reason != tc.wait {
				t.Error(plan.String())
			}
			if got := reasons(plan.Events); !slices.Equal(got, tc.events) {
				t.Errorf("events %q, want %q", got, tc.events)
			}
		})
	}
}

// The run due, in both modes; CJ1 to CJ5 and M8, M10 among them.
func TestC7_CI6_LatestDue(t *testing.T) {
	for _, tc := range []struct {
		name, schedule, created, now string
		exact, theirs                string // the run; empty: none
		deadline                     *int64
	}{
		{"none is due", "@hourly", "2026-01-01T00:10:00Z", "2026-01-01T00:50:00Z", "", "", nil},
		{"one is due", "@hourly", "2026-01-01T00:10:00Z", "2026-01-01T01:00:00Z", "2026-01-01T01:00:00Z", "2026-01-01T01:00:00Z", nil},
		{"the latest of many (M8)", "@hourly", "2026-01-01T00:10:00Z", "2026-02-01T00:30:00Z", "2026-02-01T00:00:00Z", "2026-02-01T00:00:00Z", nil},
		{"CJ1", "*/5 9 * * *", "2026-01-02T08:00:00Z", "2026-01-02T20:00:00Z", "2026-01-02T09:55:00Z", "", nil},
		{"CJ2", "0 9,10 * * 1", "2026-01-01T00:00:00Z", "2026-01-08T00:00:00Z", "2026-01-05T10:00:00Z", "", nil},
		{"CJ3 (M10)", "30 6-16/4 * * 1-5", "2026-01-02T05:58:30Z", "2026-01-05T04:00:00Z", "2026-01-02T14:30:00Z", "", nil},
		{"CJ4", "* * * * *", "0001-01-01T00:00:01Z", "2026-01-02T20:00:30Z", "2026-01-02T20:00:00Z", "2026-01-02T20:00:00Z", nil},
		{"CJ5", "0 0 29 2 *", "2096-02-29T00:00:00Z", "2104-03-01T00:00:00Z", "2104-02-29T00:00:00Z", "", nil},
		{"CI7 in time", "@hourly", "2026-01-01T00:10:00Z", "2026-01-01T01:00:59Z", "2026-01-01T01:00:00Z", "2026-01-01T01:00:00Z", ptr[int64](60)},
		{"CI7 too late", "@hourly", "2026-01-01T00:10:00Z", "2026-01-01T01:01:00Z", "", "", ptr[int64](60)},
		{"CI7 zero is never in time", "@hourly", "2026-01-01T00:10:00Z", "2026-01-01T01:00:00Z", "", "", ptr[int64](0)},
		{"CI7 longer than any time", "@hourly", "2026-01-01T00:10:00Z", "2026-01-01T01:30:00Z", "2026-01-01T01:00:00Z", "2026-01-01T01:00:00Z", ptr[int64](1 << 62)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCronJob(cronjob.Spec{Schedule: tc.schedule, StartingDeadlineSeconds: tc.deadline})
			c.CreationTimestamp = at(tc.created)
			for mode, want := range map[string]string{"exact": tc.exact, "theirs": tc.theirs} {
				s := snapshot(c, at(tc.now))
				if mode == "theirs" {
					s = kubernetes(s)
				}
				got, wanted := created(t, reconcile(t, s)), time.Time{}
				if want != "" {
					wanted = at(want)
				}
				if !got.Equal(wanted) {
					t.Errorf("%s: got %s, want %s", mode, got, wanted)
				}
			}
		})
	}
}

func TestC7_CI9_Requeue(t *testing.T) {
	for _, tc := range []struct{ name, schedule, created, now, want string }{
		{"before the first run", "@hourly", "2026-01-01T00:10:00Z", "2026-01-01T00:50:00Z", "2026-01-01T01:00:00.1Z"},
		{"with a run due", "@hourly", "2026-01-01T00:10:00Z", "2026-01-01T01:00:00Z", "2026-01-01T02:00:00.1Z"},
		{"CJ1, 13h0m0.1s", "*/5 9 * * *", "2026-01-02T08:00:00Z", "2026-01-02T20:00:00Z", "2026-01-03T09:00:00.1Z"},
	} {
		c := newCronJob(cronjob.Spec{Schedule: tc.schedule})
		c.CreationTimestamp = at(tc.created)
		s := snapshot(c, at(tc.now))
		for _, s := range []cronjob.Snapshot{s, kubernetes(s)} {
			if got := reconcile(t, s).Requeue.At; !got.Equal(at(tc.want)) {
				t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
			}
		}
	}
}

func TestC8_TooManyMissedTimes(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "* * * * *"})
	for minutes, want := range map[int]bool{100: false, 101: true, 50_000_000: true} {
		plan := reconcile(t, snapshot(c, start.Add(time.Duration(minutes)*time.Minute)))
		if got := slices.Contains(reasons(plan.Events), "TooManyMissedTimes"); got != want {
			t.Errorf("%d missed: warned %t", minutes, got)
		}
		if plan.Missed.Count != minutes-1 || len(plan.Create) != 1 || len(plan.Missed.Runs) != 10 {
			t.Errorf("%d missed: %s", minutes, plan.String())
		}
	}
}

// The preset's estimate of the number warns from the same number on.
func TestC8_TooManyMissedTimesOfThePreset(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "* * * * *"})
	for minutes, want := range map[int]bool{99: false, 100: false, 102: true, 10_000: true} {
		plan := reconcile(t, kubernetes(snapshot(c, start.Add(time.Duration(minutes)*time.Minute))))
		if got := slices.Contains(reasons(plan.Events), "TooManyMissedTimes"); got != want {
			t.Errorf("%d missed: warned %t", minutes, got)
		}
	}
}

// A job that turned out to be gone brings the next round forward only where a run
// waits for it.
func TestC5_AGoneJobThatNothingWaitsFor(t *testing.T) {
	for policy, atOnce := range map[cronjob.ConcurrencyPolicy]bool{cronjob.Allow: false, cronjob.Forbid: true} {
		c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: policy})
		c.Status.LastScheduleTime = hours(1)
		c.Status.Active = []cronjob.Reference{{Kind: "Job", Namespace: "ns", Name: cronjob.JobName(c.Name, hours(1)), UID: "gone"}}
		s := snapshot(c, hours(2.5))
		plan := reconcile(t, s)
		o := cronjob.Outcome{Settled: cronjob.Done}
		for range plan.Verify {
			o.Verified = append(o.Verified, cronjob.Gone)
		}
		for _, made := range plan.Create {
			o.Created = append(o.Created, cronjob.Effect{Result: cronjob.Done, Job: cronjob.Reference{Name: made.Name, UID: "new"}})
		}
		if end := plan.Conclude(o); len(plan.Verify) != 1 || end.Requeue.At.Equal(s.Now) != atOnce {
			t.Errorf("%s: again at %v, want at once: %v\n%s", policy, end.Requeue.At, atOnce, plan.String())
		}
	}
}

func TestC9_MissSchedule(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", StartingDeadlineSeconds: ptr[int64](60)})
	s := snapshot(c, start.Add(2*time.Hour+5*time.Minute))
	plan := reconcile(t, s)
	if got := reasons(plan.Events); !slices.Equal(got, []string{"MissSchedule"}) || plan.Missed.Count != 2 || !plan.Missed.TooLate {
		t.Error(plan.String())
	}
	s.Memory = plan.Conclude(cronjob.Outcome{}).Memory
	if !s.Memory.Kept().Counted.Equal(hours(2)) {
		t.Errorf("counted up to %v, want the latest missed run", s.Memory.Kept().Counted)
	}
	if plan := reconcile(t, s); len(plan.Events) > 0 || plan.Missed.Count != 2 {
		t.Errorf("once a run: %s", plan.String())
	}
	s.Now = s.Now.Add(time.Hour)
	if plan := reconcile(t, s); len(plan.Events) != 1 {
		t.Errorf("the next run, too: %s", plan.String())
	}
	if plan := reconcile(t, kubernetes(s)); len(plan.Events) > 0 {
		t.Errorf("the reference never says so: %s", plan.String())
	}
}

func TestC10_AlreadyStarted(t *testing.T) {
	run := start.Add(time.Hour)
	running := child(run)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	for name, status := range map[string]cronjob.Status{
		"recorded":            {LastScheduleTime: run},
		"in the active list":  {Active: []cronjob.Reference{ref(running)}},
		"recorded and active": {Active: []cronjob.Reference{ref(running)}, LastScheduleTime: run},
	} {
		c.Status = status
		plan := reconcile(t, snapshot(c, run.Add(time.Minute), running))
		if len(plan.Create) > 0 {
			t.Errorf("%s: %s", name, plan.String())
		}
		if got := plan.Settle(cronjob.Writes{}).Status.LastScheduleTime; !got.Equal(run) {
			t.Errorf("%s: recorded %s", name, got)
		}
	}
}

func TestC11_CI8_Forbid(t *testing.T) {
	first, second := start.Add(time.Hour), start.Add(2*time.Hour)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Forbid, StartingDeadlineSeconds: ptr[int64](600)})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(child(first))}, LastScheduleTime: first}
	s := snapshot(c, second, child(first))
	plan := reconcile(t, s)
	if len(plan.Create) > 0 || !slices.Equal(reasons(plan.Events), []string{"JobAlreadyActive"}) {
		t.Fatal(plan.String())
	}
	if plan.Settle(done(&plan).Writes).Write {
		t.Error("the run must not be recorded")
	}
	if want := second.Add(600 * time.Second); !plan.Requeue.At.Equal(want) || plan.Requeue.Reason != cronjob.WaitStartDeadline {
		t.Errorf("again at %s, want %s", plan.Requeue.At, want)
	}
	s.Children[0] = finished(s.Children[0], job.Failed, second)
	s.Now = second.Add(5 * time.Minute)
	if got := created(t, reconcile(t, s)); !got.Equal(second) {
		t.Errorf("later it starts: got %s", got)
	}
	s.Now = second.Add(10 * time.Minute)
	if got := created(t, reconcile(t, s)); !got.IsZero() {
		t.Errorf("and then not any more: got %s", got)
	}
}

func TestC12_CI8_Replace(t *testing.T) {
	first, second := start.Add(time.Hour), start.Add(2*time.Hour)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(child(first))}, LastScheduleTime: first}
	plan := reconcile(t, snapshot(c, second, child(first)))
	if len(plan.Delete) != 1 || plan.Delete[0].Reason != cronjob.DeleteReplaced || len(plan.Create) != 1 {
		t.Fatal(plan.String())
	}
	status := plan.Settle(done(&plan).Writes).Status
	if len(status.Active) != 1 || status.Active[0].Name != cronjob.JobName("report", second) {
		t.Error(status)
	}

	failed := cronjob.Outcome{Writes: cronjob.Writes{Deleted: []cronjob.Effect{{Result: cronjob.Unsuccessful}}}, Settled: cronjob.Done}
	if plan.MayCreate(failed.Writes) {
		t.Error("a deletion failed, and the run may start")
	}
	if end := plan.Conclude(failed); !end.Retry || plan.Settle(failed.Writes).Write {
		t.Error("a failed replacement is tried again")
	}
	if !plan.MayCreate(cronjob.Writes{Deleted: []cronjob.Effect{{Result: cronjob.Gone}}}) {
		t.Error("gone is as good as deleted")
	}
}

func TestC13_CI2_Creation(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "30 1 * * *", TimeZone: ptr("America/New_York"), JobTemplate: cronjob.JobTemplate{
		Labels: map[string]string{"app": "report"}, Annotations: map[string]string{"team": "a"},
	}})
	var names []string
	// An hour that is shown twice makes two jobs.
	for _, now := range []string{"2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"} {
		plan := reconcile(t, snapshot(c, at(now)))
		names = append(names, plan.Create[0].Name)
		c.Status.LastScheduleTime = plan.Create[0].ScheduledTime
		want := map[string]string{"team": "a", cronjob.TimestampAnnotation: c.Status.LastScheduleTime.Format(time.RFC3339)}
		if diff := cmp.Diff(want, plan.Create[0].Annotations); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]string{"app": "report"}, plan.Create[0].Labels); diff != "" {
			t.Error(diff)
		}
	}
	if want := []string{"report-29891850", "report-29891910"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	if got := c.Status.LastScheduleTime.Format(time.RFC3339); got != "2026-11-01T01:30:00-05:00" {
		t.Error(got)
	}
}

// TestC14_CI3_Created creates the job before the status is written (CI3).
func TestC14_CI3_Created(t *testing.T) {
	run := start.Add(time.Hour)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	plan := reconcile(t, snapshot(c, run.Add(2*time.Second)))
	for _, tc := range []struct {
		result           cronjob.Result
		active, recorded bool
		event            string
		retry            bool
	}{
		{cronjob.Done, true, true, "SuccessfulCreate", false},
		{cronjob.AlreadyExists, true, true, "", false},
		{cronjob.NameTaken, false, false, "", false},
		{cronjob.Unsuccessful, false, false, "FailedCreate", true},
		{cronjob.Refused, false, false, "", false},
		{cronjob.NotTried, false, false, "", true},
	} {
		o := cronjob.Outcome{Writes: cronjob.Writes{Created: []cronjob.Effect{{
			Result: tc.result, Job: cronjob.Reference{UID: "u"}, CreationTimestamp: run.Add(2 * time.Second),
		}}}, Settled: cronjob.Done}
		status, end := plan.Settle(o.Writes).Status, plan.Conclude(o)
		if len(status.Active) == 1 != tc.active || status.LastScheduleTime.Equal(run) != tc.recorded || end.Retry != tc.retry {
			t.Errorf("%s: %s, retry %t", tc.result, status, end.Retry)
		}
		if got := strings.Join(reasons(end.Events), " "); got != tc.event {
			t.Errorf("%s: events %q", tc.result, got)
		}
		if tc.result == cronjob.Done && end.Metrics.CreationSkew != 2*time.Second {
			t.Errorf("C16: skew %s", end.Metrics.CreationSkew)
		}
	}
}

// A crash between the creation and the status write (M11).
func TestC14_CI3_FoundAmongTheChildren(t *testing.T) {
	run := start.Add(time.Hour)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	s := snapshot(c, run, child(run))
	plan := reconcile(t, s)
	status := plan.Settle(cronjob.Writes{}).Status
	if len(plan.Create)+len(plan.Events) > 0 || len(status.Active) != 1 || !status.LastScheduleTime.Equal(run) {
		t.Error(plan.String())
	}
	if plan := reconcile(t, kubernetes(s)); len(plan.Create) != 1 || len(plan.Unexpected) != 1 {
		t.Errorf("the reference tries to create: %s", plan.String())
	}
	s.Children[0].Owner = cronjob.Foreign
	plan = reconcile(t, s)
	if len(plan.Create) > 0 || plan.Settle(cronjob.Writes{}).Write || plan.Requeue.At.IsZero() {
		t.Errorf("another's job: %s", plan.String())
	}
}

func TestCI14_ClockGoesBack(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	c.Status.LastScheduleTime = start.Add(10 * time.Hour)
	plan := reconcile(t, snapshot(c, start.Add(5*time.Hour)))
	if len(plan.Create) > 0 || len(plan.Notes) != 1 || !plan.Requeue.At.Equal(start.Add(11*time.Hour+100*time.Millisecond)) {
		t.Error(plan.String())
	}
}

// A new schedule takes effect only once it is compiled; then its next run decides.
func TestC17_EditedSchedule(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	s := snapshot(c, start.Add(10*time.Minute))
	s.CronJob.Spec.Schedule = "30 * * * *"
	if _, err := cronjob.Reconcile(s); !slices.Equal(fields(err), []string{"schedule"}) {
		t.Errorf("an old schedule is accepted: %v", err)
	}
	s.Schedule = cronjob.Compile(&s.CronJob)
	if plan := reconcile(t, s); !plan.Requeue.At.Equal(start.Add(30*time.Minute + 100*time.Millisecond)) {
		t.Error(plan.String())
	}
}

// All that a round has to say goes into one status.
func TestC15_OneStatus(t *testing.T) {
	first, second := start.Add(time.Hour), start.Add(2*time.Hour)
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	gone := cronjob.Reference{Name: "gone", UID: "gone"}
	c.Status = cronjob.Status{Active: []cronjob.Reference{gone, ref(child(first))}, LastScheduleTime: first}
	plan := reconcile(t, snapshot(c, second, finished(child(first), job.Complete, second)))
	status := plan.Settle(done(&plan).Writes).Status
	if len(status.Active) != 1 || !status.LastScheduleTime.Equal(second) || !status.LastSuccessfulTime.Equal(second) {
		t.Error(status)
	}
}

func TestSnapshotErrors(t *testing.T) {
	good := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), start)
	for want, change := range map[string]func(*cronjob.Snapshot){
		"cronJob.uid":                          func(s *cronjob.Snapshot) { s.CronJob.UID = "" },
		"now":                                  func(s *cronjob.Snapshot) { s.Now = time.Time{} },
		"schedule":                             func(s *cronjob.Snapshot) { s.CronJob.Spec.Schedule = "@daily" },
		"cronJob.spec.concurrencyPolicy":       func(s *cronjob.Snapshot) { s.CronJob.Spec.ConcurrencyPolicy = "x" },
		"cronJob.spec.startingDeadlineSeconds": func(s *cronjob.Snapshot) { s.CronJob.Spec.StartingDeadlineSeconds = ptr[int64](-1) },
		"cronJob.spec.failedJobsHistoryLimit":  func(s *cronjob.Snapshot) { s.CronJob.Spec.FailedJobsHistoryLimit = ptr[int32](-1) },
		"options.catchUpWindow":                func(s *cronjob.Snapshot) { s.Options.CatchUpWindow = -1 },
		"options.catchUpLimit":                 func(s *cronjob.Snapshot) { s.Options.CatchUpLimit = -1 },
		"options.maxActive":                    func(s *cronjob.Snapshot) { s.Options.MaxActive = -1 },
		"options.jitter":                       func(s *cronjob.Snapshot) { s.Options.Jitter = -1 },
		"options.keepSuccessful":               func(s *cronjob.Snapshot) { s.Options.KeepSuccessful = -1 },
		"options.keepFailed":                   func(s *cronjob.Snapshot) { s.Options.KeepFailed = -1 },
	} {
		s := good
		change(&s)
		_, err := cronjob.Reconcile(s)
		if got := fields(err); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %v", want, err)
		}
	}
	s := good
	s.Backfills = []cronjob.Backfill{{ID: "b"}}
	if _, err := cronjob.Reconcile(s); err == nil || err.Error() != `backfills[b].after: "": is required` {
		t.Errorf("a backfill without a beginning: %v", err)
	}
	s = good
	s.Now = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := cronjob.Reconcile(s); err == nil {
		t.Error("the year 10000 must be refused")
	}
}

func TestDecode(t *testing.T) {
	const object = `{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"report","namespace":"ns","uid":"cj-1",
		"creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"schedule":"@hourly","timeZone":"Asia/Shanghai","concurrencyPolicy":"Forbid",
		"jobTemplate":{"metadata":{"labels":{"a":"b"}},"spec":{"template":{}}}},"status":%STATUS%}`
	const status = `{"active":[{"kind":"Job","namespace":"ns","name":"report-1","uid":"u","apiVersion":"batch/v1","resourceVersion":"7"}],` +
		`"lastScheduleTime":"2026-01-01T01:00:00Z","lastSuccessfulTime":"2026-01-01T00:30:00Z"}`
	c, err := cronjob.DecodeCronJob([]byte(strings.Replace(object, "%STATUS%", status, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := json.Marshal(c.Status); string(got) != status {
		t.Errorf("the status does not round-trip: %s", got)
	}
	if c.Spec.JobTemplate.Labels["a"] != "b" || c.Spec.ConcurrencyPolicy != cronjob.Forbid || c.UID != "cj-1" {
		t.Errorf("%+v", c)
	}
	got, err := cronjob.DecodeChild(&c, []byte(`{"kind":"Job","metadata":{"name":"report-1","uid":"u",
		"annotations":{"batch.kubernetes.io/cronjob-scheduled-timestamp":"2026-01-01T09:00:00+08:00"},
		"ownerReferences":[{"uid":"cj-1","controller":true}]},"status":{"startTime":"2026-01-01T01:00:01Z","completionTime":"2026-01-01T01:05:00Z",
		"conditions":[{"type":"Complete","status":"True","lastTransitionTime":"2026-01-01T01:05:00Z"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := cronjob.Child{
		Name: "report-1", UID: "u", StartTime: at("2026-01-01T01:00:01Z"), Finished: job.Complete,
		FinishTime: at("2026-01-01T01:05:00Z"), CompletionTime: at("2026-01-01T01:05:00Z"), ScheduledTime: at("2026-01-01T01:00:00Z"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "{}", `{"apiVersion":"batch/v1","kind":"Job"}`, `{"kind":"CronJobList"}`} {
		if _, err := cronjob.DecodeCronJob([]byte(bad)); err == nil {
			t.Errorf("%q decodes", bad)
		}
	}
	for _, bad := range []string{"", "{}", `{"apiVersion":"batch/v1","kind":"CronJob"}`, `{"kind":"List"}`} {
		if _, err := cronjob.DecodeChild(&c, []byte(bad)); err == nil {
			t.Errorf("%q decodes as a child", bad)
		}
	}
	// A typed client marshals an object without its type.
	if c, err := cronjob.DecodeCronJob([]byte(`{"metadata":{"name":"report","creationTimestamp":null},"spec":{"schedule":"@daily"}}`)); err != nil || c.Spec.Schedule != "@daily" {
		t.Errorf("%+v, error %v", c, err)
	}
}

// C1: what a job is to the CronJob, from its values.
func TestC1_ChildOf(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	j := job.Job{Name: "report-1", UID: "u", CreationTimestamp: hours(1), DeletionTimestamp: hours(3), Status: job.Status{
		StartTime: hours(1), Conditions: []job.Condition{{Type: job.Failed, Status: job.ConditionTrue, LastTransitionTime: hours(2)}},
	}}
	want := cronjob.Child{
		Name: "report-1", UID: "u", CreationTimestamp: hours(1), DeletionTimestamp: hours(3), StartTime: hours(1),
		Finished: job.Failed, FinishTime: hours(2), ScheduledTime: hours(1), Backfilled: true,
	}
	run := map[string]string{
		"batch.kubernetes.io/cronjob-scheduled-timestamp": hours(1).Format(time.RFC3339), "cronjob.kubernetes.io/instantiate": "backfill",
	}
	if diff := cmp.Diff(want, cronjob.ChildOf(&c, &j, "cj-1", run)); diff != "" {
		t.Error(diff)
	}
	want.ScheduledTime, want.Backfilled, want.Owner = time.Time{}, false, cronjob.Foreign
	for _, controller := range []string{"", "another"} {
		if diff := cmp.Diff(want, cronjob.ChildOf(&c, &j, controller, map[string]string{"cronjob.kubernetes.io/instantiate": "manual"})); diff != "" {
			t.Errorf("controller %q: %s", controller, diff)
		}
	}
	if none := cronjob.ChildOf(&cronjob.CronJob{}, &job.Job{}, "", nil); none.Owner != cronjob.Foreign {
		t.Error("a job without a controller belongs to a CronJob without a UID")
	}
}

// TestErrorsNameFieldValueAndProblem: the whole text of an error, in that order.
func TestErrorsNameFieldValueAndProblem(t *testing.T) {
	good := func(change func(*cronjob.Spec)) cronjob.Spec {
		s := cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace, FailedJobsHistoryLimit: ptr[int32](0), SuccessfulJobsHistoryLimit: ptr[int32](0)}
		if change != nil {
			change(&s)
		}
		return s
	}
	trigger := snapshot(newCronJob(good(nil)), start)
	trigger.Triggers = []cronjob.Trigger{{}}
	_, noID := cronjob.Reconcile(trigger)
	for want, err := range map[string]error{
		"<nil>":                          cronjob.Validate(good(nil)),
		`triggers.id: "": is required`:   noID,
		`spec.schedule: "": is required`: cronjob.Validate(good(func(s *cronjob.Spec) { s.Schedule = "" })),
		`spec.concurrencyPolicy: "Never": must be Allow, Forbid or Replace`: cronjob.Validate(good(func(s *cronjob.Spec) { s.ConcurrencyPolicy = "Never" })),
		"spec.failedJobsHistoryLimit: -1: must not be negative":             cronjob.Validate(good(func(s *cronjob.Spec) { s.FailedJobsHistoryLimit = ptr[int32](-1) })),
	} {
		if got := fmt.Sprint(err); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

// A backend may name no more of a new job than its UID.
func TestC15_ReferenceOfACreatedJob(t *testing.T) {
	plan := reconcile(t, snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1.5)))
	o := cronjob.Outcome{Writes: cronjob.Writes{Created: []cronjob.Effect{{Result: cronjob.Done, Job: cronjob.Reference{UID: "u"}}}}}
	want := []cronjob.Reference{{Kind: "Job", APIVersion: "batch/v1", Namespace: "ns", Name: cronjob.JobName("report", hours(1)), UID: "u"}}
	if got := plan.Settle(o.Writes).Status.Active; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A round that writes no status has recorded nothing, whatever time it has read.
func TestCI15_OnlyOwnWritesAreRecorded(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	c.Status.LastScheduleTime = hours(1)
	plan := reconcile(t, snapshot(c, hours(1.5)))
	if got := kept(plan.Conclude(cronjob.Outcome{}).Memory).Recorded; !got.IsZero() {
		t.Errorf("recorded %s without a write", got)
	}
	plan = reconcile(t, snapshot(c, hours(2.5)))
	o := done(&plan)
	if got := kept(plan.Conclude(o).Memory).Recorded; !got.Equal(hours(2)) {
		t.Errorf("recorded %s, want the run that was started", got)
	}
	o.Settled = cronjob.Unsuccessful
	if got := kept(plan.Conclude(o).Memory).Recorded; !got.IsZero() {
		t.Errorf("recorded %s though the write failed", got)
	}
}

// A trigger is over when its job is there, and when somebody else has the name.
func TestTriggers_WhatEndsThem(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), start)
	s.Triggers = []cronjob.Trigger{{ID: "now"}}
	plan := reconcile(t, s)
	for result, over := range map[cronjob.Result]bool{
		cronjob.Done: true, cronjob.AlreadyExists: true, cronjob.NameTaken: true,
		cronjob.NotTried: false, cronjob.Unsuccessful: false, cronjob.Refused: false,
	} {
		o := done(&plan)
		o.Created[0].Result = result
		if got := slices.Contains(plan.Conclude(o).Triggered, "now"); got != over {
			t.Errorf("%s: over %v, want %v", result, got, over)
		}
	}
}
