package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
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
	r.Round(one) // the next job of that name
	r.Close()
}

// TestPlain: there is a line for each event and each change, and notes for the user are separate.
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
	if want := "hello: status.ready: -1: must not be negative\ntick: disk full; trying again\na note\n"; notes.String() != want {
		t.Errorf("notes\n%s\nwant\n%s", &notes, want)
	}
}

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
}

const jsonLinesWant = `{"time":"2026-03-01T10:00:00Z","type":"event","job":"hello","event":{"type":"Warning","reason":"BackoffLimitExceeded","message":"too many"}}
{"time":"2026-03-01T10:00:00Z","type":"status","job":"hello","status":{"active":3,"succeeded":1,"failed":1},"waits":["3 active pods not finished"],"next":{"at":"2026-03-01T10:00:07Z"}}
{"time":"2026-03-01T10:00:00Z","type":"event","cronJob":"tick","event":{"type":"Normal","reason":"SuccessfulCreate","message":"Created job tick-1"}}
{"time":"2026-03-01T10:00:00Z","type":"status","cronJob":"tick","status":{"lastScheduleTime":"2026-03-01T10:00:00Z"},"next":{"at":"2026-03-01T11:00:00Z"},"nextRun":"2026-03-01T11:00:00Z"}
{"time":"2026-03-01T10:01:00Z","type":"end","job":"hello","status":{"conditions":[{"type":"Suspended","status":"True"}]},"result":"Suspended"}
{"time":"2026-03-01T10:01:00Z","type":"end","job":"hello","status":{"conditions":[{"type":"Complete","status":"True","reason":"CompletionsReached","message":"Reached"}],"succeeded":2},"result":"Complete"}
{"time":"2026-03-01T10:00:00Z","type":"status","job":"hello","status":{"active":3,"succeeded":1,"failed":1},"waits":["3 active pods not finished"],"next":{"at":"2026-03-01T10:00:07Z"}}
`
