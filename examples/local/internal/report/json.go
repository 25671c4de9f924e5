package report

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"sync"
	"time"

	"github.com/batchplan/batchplan/examples/local/internal/control"
	"github.com/batchplan/batchplan/job"
)

// line is one line of JSON. Type says which of the other fields are there:
// "event", "status" (it has changed) or "end" (the last line of a job).
type line struct {
	Time   time.Time    `json:"time"`
	Type   string       `json:"type"`
	Job    string       `json:"job"`
	Event  *job.Event   `json:"event,omitempty"`
	Status *job.Status  `json:"status,omitempty"`
	Waits  []string     `json:"waits,omitempty"`
	Next   *job.Requeue `json:"next,omitempty"`
	Result string       `json:"result,omitempty"`
}

type jsonLines struct {
	mu    sync.Mutex
	out   *json.Encoder
	notes io.Writer
	last  map[string]job.Status
}

// NewJSON writes one JSON object a line.
func NewJSON(out, notes io.Writer) Reporter {
	return &jsonLines{out: json.NewEncoder(out), notes: notes, last: map[string]job.Status{}}
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
	problems(j.notes, &r)
}

// Note writes a line of text, apart from the JSON.
func (j *jsonLines) Note(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	fmt.Fprintln(j.notes, text)
}

// End writes the last line of a job.
func (j *jsonLines) End(key string, s job.Status) {
	j.mu.Lock()
	defer j.mu.Unlock()
	result := string(s.Finished())
	if result == "" {
		result = Verdict(&s)
	}
	_ = j.out.Encode(line{Time: time.Now(), Type: "end", Job: key, Status: &s, Result: result})
}

// Close does nothing: every line is written at once.
func (j *jsonLines) Close() {}
