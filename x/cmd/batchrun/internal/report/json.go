package report

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"sync"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/control"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/logs"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// line is one line of JSON about a job or a CronJob. Type is "event", "status" if the status has
// changed, or "end" for the last line of a job. The type decides which other fields are set.
type line struct {
	Time    time.Time  `json:"time"`
	Type    string     `json:"type"`
	Job     string     `json:"job,omitempty"`
	CronJob string     `json:"cronJob,omitempty"`
	Event   *job.Event `json:"event,omitempty"`
	Status  any        `json:"status,omitempty"`
	Waits   []string   `json:"waits,omitempty"`
	Next    any        `json:"next,omitempty"`
	NextRun time.Time  `json:"nextRun,omitzero"`
	Result  string     `json:"result,omitempty"`
	Failure *Failure   `json:"failure,omitempty"`
}

type jsonLines struct {
	mu    sync.Mutex
	out   *json.Encoder
	notes io.Writer
	now   func() time.Time
	last  map[string]job.Status
	crons map[string]string // the state of each CronJob in its last status line, as text
}

// NewJSON returns a reporter that writes one JSON object per line.
func NewJSON(out, notes io.Writer, now func() time.Time) Reporter {
	return &jsonLines{out: json.NewEncoder(out), notes: notes, now: now,
		last: map[string]job.Status{}, crons: map[string]string{}}
}

// Round writes the events, and the status when it has changed.
func (j *jsonLines) Round(r control.Round) {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := r.Job.Key()
	for i := range r.Events {
		_ = j.out.Encode(line{Time: r.Now, Type: "event", Job: key, Event: &r.Events[i]})
	}
	if last, ok := j.last[key]; !ok || !reflect.DeepEqual(last, r.Status) {
		j.last[key] = r.Status
		l := line{Time: r.Now, Type: "status", Job: key, Status: &r.Status}
		for _, w := range r.Waits {
			l.Waits = append(l.Waits, w.String())
		}
		if !r.Requeue.At.IsZero() {
			l.Next = &r.Requeue
		}
		_ = j.out.Encode(l)
	}
	problems(j.notes, key, r.Notes, r.Err)
}

// CronRound writes the events of a round. It also writes the status if the status or the next run
// has changed.
func (j *jsonLines) CronRound(r control.CronRound) {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := r.CronJob.Key()
	for i := range r.Events {
		_ = j.out.Encode(line{Time: r.Now, Type: "event", CronJob: key, Event: &r.Events[i]})
	}
	if stands := fmt.Sprint(r.CronJob.Status, cronLine(&r, time.RFC3339)); stands != j.crons[key] {
		j.crons[key] = stands
		l := line{Time: r.Now, Type: "status", CronJob: key, Status: &r.CronJob.Status, NextRun: r.NextRun}
		for _, w := range r.Waits {
			l.Waits = append(l.Waits, w.String())
		}
		if !r.Requeue.At.IsZero() {
			l.Next = &r.Requeue
		}
		_ = j.out.Encode(l)
	}
	problems(j.notes, key, r.Notes, r.Err)
}

// Note writes a line of text, separate from the JSON.
func (j *jsonLines) Note(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	fmt.Fprintln(j.notes, text)
}

// End writes the last line of a job.
func (j *jsonLines) End(stored *store.Job, s job.Status, f *Failure) {
	j.mu.Lock()
	defer j.mu.Unlock()
	result := string(s.Finished())
	if result == "" {
		result = Verdict(&s)
	}
	delete(j.last, stored.Key()) // a CronJob creates new jobs without end
	_ = j.out.Encode(line{Time: j.now(), Type: "end", Job: stored.Key(), Status: &s, Result: result, Failure: f})
}

// Log does nothing: the logs of pods are text, and batchrun logs prints them.
func (j *jsonLines) Log(logs.Line) {}

// Removed writes a line of text, separate from the JSON.
func (j *jsonLines) Removed(_ job.UID, text string) { j.Note(text) }

// Close does nothing: every line is written immediately.
func (j *jsonLines) Close() {}
