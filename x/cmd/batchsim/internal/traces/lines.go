// Package traces writes what happened in a simulation, in formats that other programs read.
package traces

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/sim"
)

// Lines writes every plan as a line of JSON.
type Lines struct {
	out     *bufio.Writer
	encoder *json.Encoder
	err     error
}

// NewLines returns a watcher that writes to out.
func NewLines(out io.Writer) *Lines {
	b := bufio.NewWriterSize(out, 1<<16)
	return &Lines{out: b, encoder: json.NewEncoder(b)}
}

// line is one plan. At is in seconds since the start.
type line struct {
	At      float64          `json:"at"`
	Job     string           `json:"job,omitempty"`
	CronJob string           `json:"cronJob,omitempty"`
	Status  any              `json:"status"`
	Create  any              `json:"create,omitempty"`
	Delete  any              `json:"delete,omitempty"`
	Untrack []job.Untracking `json:"untrack,omitempty"`
	Verdict *job.Verdict     `json:"verdict,omitempty"`
	Missed  *cronjob.Missed  `json:"missed,omitempty"`
	Waits   []string         `json:"waits,omitempty"`
	Events  []job.Event      `json:"events,omitempty"`
	Again   any              `json:"again,omitempty"`
	Why     string           `json:"why"`
	Retry   bool             `json:"retry,omitempty"`
}

// Job writes a plan of a job.
func (l *Lines) Job(r sim.JobRound) {
	p, c := r.Plan, r.Conclusion
	out := line{
		At:      r.At.Seconds(),
		Job:     r.Snapshot.Job.Name,
		Status:  c.Status,
		Untrack: p.Untrack,
		Events:  c.Events,
		Why:     p.String(),
		Retry:   c.Retry,
	}

	if len(p.Create) > 0 {
		out.Create = p.Create
	}
	if len(p.Delete) > 0 {
		out.Delete = p.Delete
	}
	if p.Verdict.Type != "" {
		out.Verdict = &p.Verdict
	}
	if !p.Requeue.At.IsZero() {
		out.Again = p.Requeue.At
	}

	for _, w := range p.Waits {
		out.Waits = append(out.Waits, w.String())
	}

	l.write(&out)
}

// CronJob writes a plan of a CronJob.
func (l *Lines) CronJob(r sim.CronJobRound) {
	p, c := r.Plan, r.Conclusion
	out := line{
		At:      r.At.Seconds(),
		CronJob: r.Snapshot.CronJob.Name,
		Status:  c.Status,
		Events:  c.Events,
		Why:     p.String(),
		Retry:   c.Retry,
	}

	if len(p.Create) > 0 {
		out.Create = p.Create
	}
	if len(p.Delete) > 0 {
		out.Delete = p.Delete
	}
	if p.Missed.Count > 0 {
		out.Missed = &p.Missed
	}
	if !p.Requeue.At.IsZero() {
		out.Again = p.Requeue.At
	}

	for _, w := range p.Waits {
		out.Waits = append(out.Waits, w.String())
	}

	l.write(&out)
}

func (l *Lines) write(out *line) {
	if l.err == nil {
		l.err = l.encoder.Encode(out)
	}
}

// Close flushes the output and returns the first error.
func (l *Lines) Close() error {
	if err := l.out.Flush(); l.err == nil {
		l.err = err
	}
	return l.err
}
