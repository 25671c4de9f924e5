// Package report shows the progress of jobs and CronJobs. It writes live lines on a terminal, a
// line for each event if the output is piped, or JSON.
package report

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/control"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/logs"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// Reporter reports what happens. Its methods may be called concurrently.
type Reporter interface {
	// Round reports a round of a job.
	Round(r control.Round)
	// CronRound reports a round of a CronJob.
	CronRound(r control.CronRound)
	// Note reports anything else that the user should know.
	Note(text string)
	// Log reports a line that a pod has written.
	Log(l logs.Line)
	// End reports the state of a job when its loop has ended, and why the job has failed if it has.
	End(j *store.Job, status job.Status, f *Failure)
	// Removed notes that the user has removed a job or a CronJob.
	Removed(uid job.UID, text string)
	// Close writes the rest of the output.
	Close()
}

// counters returns the counters of a job in one line.
func counters(spec *job.Spec, s *job.Status) string {
	text := fmt.Sprintf("active %d, succeeded %s, failed %d", s.Active, succeeded(spec, s), s.Failed)
	if s.FailedIndexes != nil && *s.FailedIndexes != "" {
		text += ", failed indexes " + *s.FailedIndexes
	}
	if s.Terminating != nil && *s.Terminating > 0 {
		text += fmt.Sprintf(", terminating %d", *s.Terminating)
	}
	return text
}

// succeeded returns the number of succeeded pods: "3", or "3/5" if the spec has completions.
func succeeded(spec *job.Spec, s *job.Status) string {
	if spec.Completions == nil {
		return fmt.Sprint(s.Succeeded)
	}
	return fmt.Sprintf("%d/%d", s.Succeeded, *spec.Completions)
}

// outlook describes what the job waits for and when the next round is due.
func outlook(r *control.Round, layout string) string {
	var parts []string
	for _, w := range r.Waits {
		parts = append(parts, w.String())
	}
	if r.Pending > 0 {
		parts = append(parts, fmt.Sprintf("%d not started yet", r.Pending))
	}
	if !r.Requeue.At.IsZero() {
		parts = append(parts, "next round at "+zoned(r.Requeue.At, layout))
	}
	return strings.Join(parts, "; ")
}

// zoned formats a time in this machine's zone, with the name of the zone.
func zoned(t time.Time, layout string) string { return t.Local().Format(layout + " MST") }

// Verdict describes the state of a job.
func Verdict(s *job.Status) string {
	end := s.Finished()
	if end == "" {
		if s.Condition(job.ConditionSuspended).Status == job.ConditionTrue {
			return "Suspended"
		}
		return "Running"
	}
	text := string(end)
	if c := s.Condition(end); c.Reason != "" {
		text += " (" + c.Reason + ": " + c.Message + ")"
	}
	return text
}

// plain writes a line whenever something has changed.
type plain struct {
	mu     sync.Mutex
	out    io.Writer
	notes  io.Writer
	layout string
	specs  map[string]job.Spec
	last   map[string]string
	now    func() time.Time
	names  prefixes
}

// NewPlain returns a reporter that writes lines of text to the writer out, and notes for the user
// to the writer notes. Times have the given layout.
func NewPlain(out, notes io.Writer, layout string, now func() time.Time) Reporter {
	return &plain{
		out:    out,
		notes:  notes,
		layout: layout,
		now:    now,
		specs:  map[string]job.Spec{},
		last:   map[string]string{},
	}
}

// Round writes the events, and the counters when they have changed.
func (p *plain) Round(r control.Round) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key, at := r.Job.Key(), r.Now.Local().Format(p.layout)
	p.specs[key] = *r.Spec
	for _, e := range r.Events {
		fmt.Fprintf(p.out, "%s %s: %s: %s\n", at, key, e.Reason, e.Message)
	}
	if line := counters(r.Spec, &r.Status); line != p.last[key] {
		p.last[key] = line
		if next := outlook(&r, p.layout); next != "" {
			line += "; " + next
		}
		fmt.Fprintf(p.out, "%s %s: %s\n", at, key, line)
	}
	problems(p.notes, key, r.Notes, r.Err)
}

func problems(out io.Writer, key string, notes []job.Note, err error) {
	for _, n := range notes {
		fmt.Fprintf(out, "%s: %s: %s: %s\n", key, n.Field, n.Value, n.Message)
	}
	if err != nil {
		fmt.Fprintf(out, "%s: %v; trying again\n", key, err)
	}
}

// Note writes a line to the notes.
func (p *plain) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintln(p.notes, text)
}

// CronRound writes the events, and the state of the CronJob when it has changed.
func (p *plain) CronRound(r control.CronRound) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key, at := r.CronJob.Key(), r.Now.Local().Format(p.layout)
	for _, e := range r.Events {
		fmt.Fprintf(p.out, "%s %s: %s: %s\n", at, key, e.Reason, e.Message)
	}
	if line := cronLine(&r, p.layout); line != p.last[key] {
		p.last[key] = line
		fmt.Fprintf(p.out, "%s %s: %s\n", at, key, line)
	}
	problems(p.notes, key, r.Notes, r.Err)
}

// cronLine describes the state of a CronJob, with times in this machine's zone.
func cronLine(r *control.CronRound, layout string) string {
	parts := []string{fmt.Sprintf("active %d", len(r.CronJob.Status.Active))}
	for _, w := range r.Waits {
		if w.Reason == cronjobreason.WaitNextRun {
			parts = append(parts, "next run at "+zoned(w.Until, layout))
		} else {
			parts = append(parts, w.String())
		}
	}
	return strings.Join(parts, "; ")
}

// Log writes a line that a pod has written, with the name of the pod before it.
func (p *plain) Log(l logs.Line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "%s%s\n", p.names.of(&l), l.Text)
}

// End writes the state of the job.
func (p *plain) End(j *store.Job, s job.Status, f *Failure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := j.Key()
	line := fmt.Sprintf("%s: %s", key, Verdict(&s))
	if spec, ok := p.specs[key]; ok {
		line += "; " + counters(&spec, &s) + "; after " + Elapsed(p.now().Sub(j.Created))
	}
	fmt.Fprintf(p.out, "%s\n%s", line, f.text())
	delete(p.specs, key) // a CronJob creates new jobs without end
	delete(p.last, key)
}

// Removed writes a line to the notes.
func (p *plain) Removed(_ job.UID, text string) { p.Note(text) }

// Close does nothing: every line is written immediately.
func (p *plain) Close() {}
