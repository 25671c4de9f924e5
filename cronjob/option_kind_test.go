package cronjob_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/cronjobgen"
	"github.com/batchplan/batchplan/job"
)

var works = cronjob.Options{ChildKind: cronjob.Kind{Kind: "Work", APIVersion: "example.com/v1"}}

// C13: the name of a job in each form, and the run that is read from it.
func TestC13_Naming(t *testing.T) {
	run := at("2026-03-01T12:00:30Z")

	for _, tc := range []struct {
		naming     cronjob.Naming
		name, told string
	}{
		{cronjob.Naming{}, "report-29539440", "2026-03-01T12:00:00Z"},
		{cronjob.Naming{Form: cronjob.NameSeconds}, "report-1772366430", "2026-03-01T12:00:30Z"},
		{cronjob.Naming{Prefix: "run-"}, "run-report-29539440", "2026-03-01T12:00:00Z"},
		{cronjob.Naming{Form: cronjob.NameCustom, Namer: cronjobgen.Stamps{}}, "report-20260301t120030", "2026-03-01T12:00:30Z"},
	} {
		if got := tc.naming.JobName("report", run); got != tc.name {
			t.Errorf("%s, want %s", got, tc.name)
		}
		if got, ok := tc.naming.RunNamed("report", tc.name); !ok || !got.Equal(at(tc.told)) {
			t.Errorf("%s tells %s, %t, want %s", tc.name, got, ok, tc.told)
		}
		for _, other := range []string{"", "report", "report-", "other-" + tc.name, tc.name + "x", "report-manual-1", "report-x"} {
			if got, ok := tc.naming.RunNamed("report", other); ok {
				t.Errorf("%s: %q tells %s", tc.naming.Form, other, got)
			}
		}
	}
}

// C9, C14: events name the kind of the children with the right article.
func TestC9_Article(t *testing.T) {
	for kind, one := range map[string]string{"": "a job", "Work": "a Work", "Operation": "an Operation", "UserTask": "a UserTask"} {
		s := hourly(cronjob.Spec{StartingDeadlineSeconds: ptr[int64](60)}, hours(1).Add(5*time.Minute))
		taken := child(hours(1))
		taken.Foreign = true
		named := hourly(cronjob.Spec{}, hours(1), taken)
		if kind != "" {
			s.Options.ChildKind = cronjob.Kind{Kind: kind, APIVersion: "example.com/v1"}
			named.Options = s.Options
		}

		for want, s := range map[string]cronjob.Snapshot{"time to start " + one + ": ": s, "another owner has " + one + " of that name": named} {
			if events := reconcile(t, s).Events; len(events) != 1 || !strings.Contains(events[0].Message, want) {
				t.Errorf("%v, want %q", events, want)
			}
		}
	}
}

// deaf is a namer that cannot read its own names.
type deaf struct{ cronjobgen.Stamps }

func (deaf) Run(string, string) (time.Time, bool) { return time.Time{}, false }

// For invalid options, the error names the field.
func TestOptions_WhatIsRefused(t *testing.T) {
	for field, o := range map[string]cronjob.Options{
		"options.naming.form":          {Naming: cronjob.Naming{Form: 9}},
		`options.naming.form: "Minute`: {Naming: cronjob.Naming{Namer: cronjobgen.Stamps{}}},
		"options.naming.namer":         {Naming: cronjob.Naming{Form: cronjob.NameCustom}},
		`options.naming.namer: "rep`:   {Naming: cronjob.Naming{Form: cronjob.NameCustom, Namer: deaf{}}},
		"options.naming.prefix":        {Naming: cronjob.Naming{Form: cronjob.NameCustom, Namer: cronjobgen.Stamps{}, Prefix: "x-"}},
		"options.marks.timeIn":         {Marks: cronjob.Marks{TimeIn: 9}},
		"options.marks.timeKey":        {Marks: cronjob.Marks{TimeIn: cronjob.InName, TimeKey: "example.com/run"}},
		"options.marks.utc":            {Marks: cronjob.Marks{TimeIn: cronjob.InLabel, UTC: true}},
		"options.marks.requestKey":     {Marks: cronjob.Marks{TimeKey: "example.com/run", RequestKey: "example.com/run"}},
		"options.childKind":            {ChildKind: cronjob.Kind{Kind: "Work"}},
		"options.pauseAfterFailures":   {PauseAfterFailures: -1},
	} {
		_, err := cronjob.Reconcile(in(hourly(cronjob.Spec{}, hours(0.1)), o))
		var input *job.InputError
		if !errors.As(err, &input) || !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// C13, CI3: the job of a run that was not recorded because of a crash is found by its name, and no
// second job starts. This holds for each form of names, and whether an annotation, a label or
// only the name has the time of the run.
func TestCI3_FoundByAnyName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := cronjobgen.Kinds().Draw(t, "kind")
		now := start.Add(time.Duration(rapid.IntRange(420, 1e6).Draw(t, "s")) * time.Second)
		s := in(snapshot(newCronJob(cronjob.Spec{Schedule: "*/7 * * * *", TimeZone: ptr("America/New_York")}), now), o)

		first := reconcile(t, s)
		if len(first.Create) != 1 {
			t.Fatal(first.String())
		}

		c := &first.Create[0]
		child := cronjob.Child{Name: c.Name, UID: "work-1", CreationTimestamp: s.Now}
		child.ScheduledTime, child.Backfilled = o.ReadMarks("report", c.Name, c.Labels, c.Annotations)
		if !child.ScheduledTime.Equal(c.ScheduledTime) || child.Backfilled {
			t.Fatalf("the marks %q and %q read as %s", c.Labels, c.Annotations, child.ScheduledTime)
		}

		s.Children = []cronjob.Child{child}
		next := reconcile(t, s)
		status := next.Settle(cronjob.Writes{}).Status
		want := cronjob.Reference{Kind: "Work", APIVersion: "example.com/v1", Namespace: "ns", Name: c.Name, UID: "work-1"}
		if len(next.Create) != 0 || !status.LastScheduleTime.Equal(c.ScheduledTime) || !slices.Equal(status.Active, []cronjob.Reference{want}) {
			t.Errorf("recorded as %s, %+v\n%s", status, status.Active, next.String())
		}
	})
}

// Two runs in the same minute are two runs if names contain the seconds.
func TestC13_RunsOfOneMinuteByName(t *testing.T) {
	for form, want := range map[cronjob.NameForm]int{cronjob.NameMinutes: 3, cronjob.NameSeconds: 6} {
		o := works
		o.Naming.Form = form
		s := in(snapshot(newCronJob(cronjob.Spec{Schedule: "@every 30s"}), start), o)
		created := 0
		for range 6 {
			s.Now = s.Now.Add(30 * time.Second)
			p, _ := goOn(t, &s)
			created += len(p.Create)
			for _, c := range p.Create {
				s.Children = append(s.Children, cronjob.Child{Name: c.Name, UID: cronjob.UID("uid-" + c.Name), ScheduledTime: c.ScheduledTime})
			}
		}
		if created != want && created != want+1 { // the first minute may not be whole
			t.Errorf("%s: %d jobs", form, created)
		}
	}
}

// C2, C4: a kind of children can have words of its own for an end. Children that end with such a
// word are finished, and may count for a limit.
func TestC2_OtherEnds(t *testing.T) {
	ended := func(name string, hour float64, how, keptAs cronjob.Ending) cronjob.Child {
		when := hours(hour)
		return cronjob.Child{Name: name, UID: cronjob.UID(name), StartTime: when, Finished: how, FinishTime: when, CompletionTime: when, KeptAs: keptAs}
	}
	s := in(hourly(cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid, SuccessfulJobsHistoryLimit: ptr[int32](1), FailedJobsHistoryLimit: ptr[int32](1)}, hours(6),
		ended("aborted-1", 1, "Aborted", ""), ended("aborted-2", 4, "Aborted", ""), ended("failed", 2, cronjob.Failed, cronjob.Complete),
		ended("complete", 3, cronjob.Complete, ""), ended("skipped", 1, "Skipped", cronjob.Complete),
		ended("terminated-1", 1, "Terminated", "Never"), ended("terminated-2", 2, "Terminated", "Never")), works)
	s.CronJob.Status = cronjob.Status{
		Active: []cronjob.Reference{{Name: "aborted-2", UID: "aborted-2"}}, LastScheduleTime: hours(5), LastSuccessfulTime: hours(3),
	}
	p := reconcile(t, s)
	if len(p.Create) != 1 {
		t.Errorf("Forbid, and nothing runs any more, and no run starts:\n%s", p.String())
	}
	// The limit of one failed job keeps only the latest one, "aborted-2". The limit of one
	// successful job keeps "complete", because "skipped" is older. No limit applies to
	// "terminated-1" and "terminated-2".
	want := "delete skipped: more successful jobs than successfulJobsHistoryLimit (C2)\n" +
		"delete aborted-1: more failed jobs than failedJobsHistoryLimit (C2)\n" +
		"delete failed: more failed jobs than failedJobsHistoryLimit (C2)\n"
	if got := p.String(); !strings.HasPrefix(got, want) || !strings.Contains(got, "Saw completed Work: aborted-2, condition: Aborted") {
		t.Errorf("got\n%s", got)
	}
	for _, place := range []int{5, 6} {
		if name := s.Children[place].Name; strings.Contains(p.String(), "delete "+name) {
			t.Errorf("%s is deleted", name)
		}
	}
	// The terminated children do not expire by age either, and do not count as running.
	aged, quiet := in(s, works), in(hourly(cronjob.Spec{}, hours(5.5), s.Children[5:]...), works)
	aged.Options.KeepFailed, aged.Options.KeepSuccessful = time.Hour, time.Hour
	if got := reconcile(t, aged); strings.Contains(got.String(), "delete terminated") {
		t.Errorf("by age\n%s", got.String())
	}
	quiet.CronJob.Status.LastScheduleTime = hours(5)
	if got := reconcile(t, quiet); len(got.Delete)+len(got.Create)+len(got.Events) > 0 {
		t.Errorf("at rest\n%s", got.String())
	}
	if last := p.Settle(cronjob.Writes{}).Status.LastSuccessfulTime; !last.Equal(hours(3)) {
		t.Errorf("the last success was at %s", last)
	}
}

// C18: without a list of active jobs, the running children are the active jobs. Each counts once,
// and Forbid also waits for a child that no status has listed.
func TestC18_ActiveFromChildren(t *testing.T) {
	o := works
	o.ActiveFromChildren, o.SuccessFromChildren = true, true
	recorded, byHand := child(hours(1)), cronjob.Child{Name: "by-hand", UID: "by-hand"}
	over := finished(child(hours(2)), job.ConditionComplete, hours(2.5))

	for _, tc := range []struct {
		name     string
		policy   cronjob.ConcurrencyPolicy
		children []cronjob.Child
		want     string
	}{
		{"Forbid waits for the job of a run", cronjob.Forbid, []cronjob.Child{over, recorded}, "held back: 1 active Work"},
		{"and for one that was made by hand", cronjob.Forbid, []cronjob.Child{byHand, recorded}, "held back: 2 active Works"},
		{"Replace deletes them", cronjob.Replace, []cronjob.Child{byHand, recorded}, "delete by-hand: another run replaces it (C12)\ndelete report-29453820: another"},
		{"a job that has ended holds nothing back", cronjob.Forbid, []cronjob.Child{over}, "create report-29453940 for 2026-01-01T03:00:00Z"},
	} {
		s := in(hourly(cronjob.Spec{ConcurrencyPolicy: tc.policy}, hours(3), tc.children...), o)
		s.CronJob.Status.LastScheduleTime = hours(2)
		p := reconcile(t, s)
		if got := p.String(); !strings.Contains(got, tc.want) || strings.Contains(got, "Unexpected") {
			t.Errorf("%s: got\n%s", tc.name, got)
		}
	}
}

// C19: the deletion of a failed job for its age can end a pause, so another round is requested.
func TestC19_ExpiredFailureEndsThePause(t *testing.T) {
	s := in(hourly(cronjob.Spec{}, hours(2), ended(1, cronjob.Failed)), cronjob.Options{PauseAfterFailures: 1, KeepFailed: time.Minute})
	s.CronJob.Status.LastScheduleTime = hours(1)
	p := reconcile(t, s)
	if len(p.Create) != 0 || len(p.Delete) != 1 || !p.Requeue.At.Equal(s.Now.Add(time.Second)) {
		t.Errorf("got\n%s", &p)
	}
	s.Children, s.Now = nil, p.Requeue.At
	if p := reconcile(t, s); len(p.Create) != 1 {
		t.Errorf("after the pause:\n%s", &p)
	}
}

// C19: the deletion of a failed job beyond the history limit can end a pause as well.
func TestC19_SurplusFailureEndsThePause(t *testing.T) {
	s := in(hourly(cronjob.Spec{FailedJobsHistoryLimit: ptr[int32](1)}, hours(3), ended(0, cronjob.Failed), ended(1, cronjob.Failed), ended(2, cronjob.Failed)),
		cronjob.Options{PauseAfterFailures: 2})
	s.CronJob.Status.LastScheduleTime = hours(2)
	if p := reconcile(t, s); len(p.Delete) != 1 || !p.Requeue.At.Equal(hours(3).Add(time.Second)) {
		t.Errorf("got\n%s", &p)
	}
}

// C19: if only a job shows the last success, that job is kept as long as there are failed jobs from
// before the success.
func TestC19_KeepsTheEndOfARow(t *testing.T) {
	failed, worked, alike := ended(1, cronjob.Failed), ended(2, cronjob.Complete), ended(1, cronjob.Complete)
	later := foreign(ended(3, cronjob.Complete))
	alike.CompletionTime, alike.FinishTime = worked.CompletionTime, worked.FinishTime
	later.CompletionTime = worked.CompletionTime
	unlisted := cronjob.Options{PauseAfterFailures: 1, SuccessFromChildren: true}
	expiring := unlisted
	expiring.KeepSuccessful = time.Minute

	for _, tc := range []struct {
		name     string
		limit    int32
		options  cronjob.Options
		children []cronjob.Child
		deleted  int
	}{
		{"beyond the limit", 0, unlisted, []cronjob.Child{failed, worked}, 0},
		{"past its age", 3, expiring, []cronjob.Child{failed, worked}, 0},
		{"an older success goes", 0, unlisted, []cronjob.Child{failed, ended(0, cronjob.Complete), worked}, 1},
		{"of two that were completed at one time one goes", 0, unlisted, []cronjob.Child{failed, worked, alike}, 1},
		{"beside the success of another owner", 0, unlisted, []cronjob.Child{failed, worked, later}, 0},
		{"it goes when no failure is left", 0, unlisted, []cronjob.Child{worked}, 1},
		{"it goes when only later failures are left", 0, unlisted, []cronjob.Child{worked, ended(3, cronjob.Failed)}, 1},
		{"it goes where the status tells of it", 0, cronjob.Options{PauseAfterFailures: 1}, []cronjob.Child{failed, worked}, 1},
		{"it goes where nothing pauses", 0, cronjob.Options{SuccessFromChildren: true}, []cronjob.Child{failed, worked}, 1},
	} {
		s := in(hourly(cronjob.Spec{SuccessfulJobsHistoryLimit: &tc.limit}, hours(4), tc.children...), tc.options)
		s.CronJob.Status.LastScheduleTime = hours(3)

		if !tc.options.SuccessFromChildren {
			s.CronJob.Status.LastSuccessfulTime = worked.CompletionTime
		}
		if p := reconcile(t, s); len(p.Delete) != tc.deleted {
			t.Errorf("%s: got\n%s", tc.name, &p)
		}
	}
}

// C19: the clock went back, so the run of a failed job is now in the future. The job is old enough
// to expire, but is kept. So its expiry neither ends the pause nor causes round after round.
func TestC19_KeptFailureAsksForNoRound(t *testing.T) {
	kept := backfilled(finished(child(hours(5)), job.ConditionFailed, hours(1).Add(time.Minute)))
	s := in(hourly(cronjob.Spec{Suspend: ptr(true)}, hours(2), kept), cronjob.Options{PauseAfterFailures: 1, KeepFailed: time.Minute})
	s.CronJob.Status.LastScheduleTime = hours(1)
	if p := reconcile(t, s); len(p.Delete) != 0 || !p.Requeue.At.Equal(hours(5)) {
		t.Errorf("got\n%s", &p)
	}
}

// C19: runs wait after enough failures in a row, until a success, an edit or a deletion.
func TestC19_PauseAfterFailures(t *testing.T) {
	failed := func(n float64) cronjob.Child { return ended(n, cronjob.Failed) }

	for _, tc := range []struct {
		name     string
		children []cronjob.Child
		edited   time.Time
		starts   bool
	}{
		{"two failures are too few", []cronjob.Child{failed(4), failed(5)}, time.Time{}, true},
		{"three are enough", []cronjob.Child{failed(2), failed(4), failed(5)}, time.Time{}, false},
		{"a success in between", []cronjob.Child{failed(2), ended(3, cronjob.Complete), failed(4), failed(5)}, time.Time{}, true},
		{"an end of another word is a failure", []cronjob.Child{failed(2), ended(4, "Aborted"), failed(5)}, time.Time{}, false},
		{"an edit after the last failure", []cronjob.Child{failed(2), failed(4), failed(5)}, hours(5).Add(2 * time.Minute), true},
		{"an edit before it", []cronjob.Child{failed(2), failed(4), failed(5)}, hours(5), true},
	} {
		s := in(hourly(cronjob.Spec{FailedJobsHistoryLimit: ptr[int32](0), StartingDeadlineSeconds: ptr[int64](60)}, hours(6), tc.children...),
			cronjob.Options{PauseAfterFailures: 3})
		s.CronJob.Status.LastScheduleTime, s.CronJob.SpecChanged = hours(5), tc.edited

		p := reconcile(t, s)
		if got := len(p.Create) == 1; got != tc.starts {
			t.Errorf("%s: got\n%s", tc.name, p.String())
		}
		if !tc.starts && !strings.Contains(p.String(), "the run of 2026-01-01T06:00:00Z is held back: 3 failures in a row") {
			t.Errorf("%s: got\n%s", tc.name, p.String())
		}
		if !tc.starts && len(p.Delete) > 0 {
			t.Errorf("%s: the history forgets a failure that the pause counts:\n%s", tc.name, p.String())
		}
	}
}

// C19: a run starts if and only if fewer jobs than the limit have failed since the last success.
func TestC19_CountsTheFailuresInARow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int32Range(1, 4).Draw(t, "limit")
		s := in(hourly(cronjob.Spec{}, hours(20)), cronjob.Options{PauseAfterFailures: limit})
		row := 0
		for n := range rapid.IntRange(0, 9).Draw(t, "jobs") {
			how := rapid.SampledFrom([]cronjob.Ending{cronjob.Failed, cronjob.Failed, cronjob.Complete}).Draw(t, "how")
			if row++; how == cronjob.Complete {
				row = 0
			}
			s.Children = append(s.Children, ended(float64(n+1), how))
			s.CronJob.Status.LastScheduleTime = hours(float64(n + 1))
		}
		if p := reconcile(t, s); (len(p.Create) == 1) != (row < int(limit)) {
			t.Errorf("%d failures in a row of %d:\n%s", row, limit, p.String())
		}
	})
}
