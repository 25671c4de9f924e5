package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/control"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// lines reports two rounds of a job and of a CronJob. The second round changes nothing.
func lines(r Reporter, at time.Time) {
	one := round("hello", 2, 1, 1)
	one.Now, one.Requeue = at, job.Requeue{At: at.Add(7 * time.Second)}
	one.Waits = []job.Wait{{Reason: jobreason.WaitPods, Pods: 3}}
	one.Events = []job.Event{{Type: job.EventWarning, Reason: "BackoffLimitExceeded", Message: "too many"}}
	one.Notes = []job.Note{{Field: "status.ready", Value: "-1", Message: "must not be negative"}}
	r.Round(one)
	one.Events, one.Notes = nil, nil
	r.Round(one)
	cron := control.CronRound{Now: at, NextRun: at.Add(time.Hour), Requeue: cronjob.Requeue{At: at.Add(time.Hour)},
		CronJob: &store.CronJob{Namespace: "default", Name: "tick", Status: cronjob.Status{LastScheduleTime: at}},
		Events:  []job.Event{{Type: job.EventNormal, Reason: "SuccessfulCreate", Message: "Created job tick-1"}}}
	r.CronRound(cron)
	cron.Events, cron.Err = nil, errors.New("disk full")
	r.CronRound(cron)
	r.Note("a note")
	r.End(one.Job, job.Status{Conditions: []job.Condition{{Type: job.ConditionSuspended, Status: job.ConditionTrue}}},
		nil)
	r.End(one.Job, job.Status{Succeeded: 2, Conditions: []job.Condition{{Type: job.ConditionComplete, Status: job.ConditionTrue, Reason: "CompletionsReached", Message: "Reached"}}}, nil)
	r.Round(one) // it goes on
	r.Removed("of-bye", "job bye: removed")
	r.Close()
}

// TestPlain: there is a line for each event and each change. Notes for the user go to another
// writer.
func TestPlain(t *testing.T) {
	at := begin.Local()
	var out, notes bytes.Buffer
	lines(NewPlain(&out, &notes, time.TimeOnly, func() time.Time { return at.Add(time.Minute) }), at)
	clock := func(d time.Duration) string { return at.Add(d).Format(time.TimeOnly) }
	want := strings.NewReplacer("NOW", clock(0), "SOON", clock(7*time.Second)+at.Format(" MST"), "HOUR",
		clock(time.Hour)+at.Format(" MST")).Replace(plainLines)
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
	if notes.String() != noteLines {
		t.Errorf("notes\n%s\nwant\n%s", &notes, noteLines)
	}
}

const noteLines = "hello: status.ready: -1: must not be negative\ntick: disk full; trying again\na note\njob bye: removed\n"

const plainLines = `NOW hello: BackoffLimitExceeded: too many
NOW hello: active 3, succeeded 1/2, failed 1; 3 active pods not finished; 2 not started yet; next round at SOON
NOW tick: SuccessfulCreate: Created job tick-1
NOW tick: active 0
hello: Suspended; active 0, succeeded 0/2, failed 0; after 1m00s
hello: Complete (CompletionsReached: Reached)
NOW hello: active 3, succeeded 1/2, failed 1; 3 active pods not finished; 2 not started yet; next round at SOON
`

// TestJSON: there is an object for each event, change and end.
func TestJSON(t *testing.T) {
	var out, notes bytes.Buffer
	lines(NewJSON(&out, &notes, func() time.Time { return begin.Add(time.Minute) }), begin)
	if out.String() != jsonLinesWant {
		t.Errorf("got\n%s\nwant\n%s", &out, jsonLinesWant)
	}
	if notes.String() != noteLines {
		t.Errorf("notes\n%s\nwant\n%s", &notes, noteLines)
	}
}

const jsonLinesWant = `{"time":"2026-03-01T10:00:00Z","type":"event","job":"hello","event":{"type":"Warning","reason":"BackoffLimitExceeded","message":"too many"}}
{"time":"2026-03-01T10:00:00Z","type":"status","job":"hello","status":{"active":3,"succeeded":1,"failed":1},"waits":["3 active pods not finished"],"next":{"at":"2026-03-01T10:00:07Z"}}
{"time":"2026-03-01T10:00:00Z","type":"event","cronJob":"tick","event":{"type":"Normal","reason":"SuccessfulCreate","message":"Created job tick-1"}}
{"time":"2026-03-01T10:00:00Z","type":"status","cronJob":"tick","status":{"lastScheduleTime":"2026-03-01T10:00:00Z"},"next":{"at":"2026-03-01T11:00:00Z"},"nextRun":"2026-03-01T11:00:00Z"}
{"time":"2026-03-01T10:01:00Z","type":"end","job":"hello","status":{"conditions":[{"type":"Suspended","status":"True"}]},"result":"Suspended"}
{"time":"2026-03-01T10:01:00Z","type":"end","job":"hello","status":{"conditions":[{"type":"Complete","status":"True","reason":"CompletionsReached","message":"Reached"}],"succeeded":2},"result":"Complete"}
{"time":"2026-03-01T10:00:00Z","type":"status","job":"hello","status":{"active":3,"succeeded":1,"failed":1},"waits":["3 active pods not finished"],"next":{"at":"2026-03-01T10:00:07Z"}}
`

// TestCounters: failed indexes and terminating pods are shown only if there are any.
func TestCounters(t *testing.T) {
	two := int32(2)
	text := func(s string) *string { return &s }
	number := func(n int32) *int32 { return &n }
	for _, test := range []struct {
		spec   job.Spec
		status job.Status
		want   string
	}{
		{job.Spec{}, job.Status{Succeeded: 1}, "active 0, succeeded 1, failed 0"},
		{job.Spec{Completions: &two}, job.Status{Active: 1, Failed: 3}, "active 1, succeeded 0/2, failed 3"},
		{job.Spec{}, job.Status{FailedIndexes: text(""), Terminating: number(0)}, "active 0, succeeded 0, failed 0"},
		{job.Spec{}, job.Status{FailedIndexes: text("1,3"), Terminating: number(1)}, "active 0, succeeded 0, failed 0, failed indexes 1,3, terminating 1"},
	} {
		if got := counters(&test.spec, &test.status); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestCronLine: the next run is shown as a time in this machine's zone. Other waits are sentences.
func TestCronLine(t *testing.T) {
	for _, test := range []struct {
		waits []cronjob.Wait
		want  string
	}{
		{nil, "active 1"},
		{[]cronjob.Wait{{Reason: cronjobreason.WaitNextRun, Until: begin}}, "active 1; next run at " + begin.Local().Format("15:04:05 MST")},
		{[]cronjob.Wait{{Reason: cronjobreason.WaitSuspended}, {Reason: cronjobreason.WaitNever}}, "active 1; the CronJob is suspended; the schedule has no further run"},
	} {
		r := control.CronRound{CronJob: &store.CronJob{Status: cronjob.Status{Active: make([]cronjob.Reference, 1)}}, Waits: test.waits}
		if got := cronLine(&r, time.TimeOnly); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestFailure: only the known parts of a failure are written.
func TestFailure(t *testing.T) {
	for _, test := range []struct {
		failure *Failure
		want    string
	}{
		{nil, ""},
		{&Failure{Pod: "p", ExitCode: 1}, "  pod p\n"},
		{&Failure{Pod: "p", Reason: "Evicted"}, "  pod p (Evicted)\n"},
		{&Failure{Pod: "p", Container: "c", ExitCode: 1}, "  pod p, container c, ended with exit status 1\n"},
		{&Failure{Pod: "p", Container: "c", Reason: "Error", Log: []string{"a", "b"}},
			"  pod p, container c, ended with exit status 0 (Error); its last lines:\n    | a\n    | b\n"},
		{&Failure{Pod: "p", Next: [][2]string{{"日本", "a"}, {"abc", "b"}}}, "  pod p\n  next: 日本  # a\n        abc   # b\n"},
	} {
		if got := test.failure.text(); got != test.want {
			t.Errorf("%+v:\n%swant\n%s", test.failure, got, test.want)
		}
	}
}

// TestProblems_Last: if notes and states go to one writer, as on a terminal, a problem comes after
// the state of its round.
func TestProblems_Last(t *testing.T) {
	var both bytes.Buffer
	now := func() time.Time { return begin }
	for _, r := range []Reporter{NewPlain(&both, &both, time.TimeOnly, now), NewJSON(&both, &both, now)} {
		one, cron := round("hello", 2, 1, 1), control.CronRound{CronJob: &store.CronJob{Name: "tick"}}
		one.Err, cron.Err = errors.New("disk full"), errors.New("disk full")
		for _, report := range []func(){func() { r.Round(one) }, func() { r.CronRound(cron) }} {
			both.Reset()
			report()
			if got := both.String(); strings.Count(got, "\n") != 2 || !strings.HasSuffix(got, ": disk full; trying again\n") {
				t.Errorf("%T: %s", r, got)
			}
		}
	}
}
