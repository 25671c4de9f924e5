package trace

import (
	"fmt"
	"io"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// Options describe the cluster.
type Options struct {
	// Release is the release whose controllers the log is compared with.
	Release release.Release
	// Controllers are the values of spec.managedBy whose jobs are judged like jobs of
	// Kubernetes. Of jobs with another value, only the statuses are checked.
	Controllers []string
	// Incomplete means that versions may be missing anywhere, as in the log of an informer or in a
	// sample. Then Check checks only what must hold between any two versions.
	Incomplete bool
	// Jobs are the options of a job controller of this library. Its gates and quirks come from Release.
	// The zero value stands for the controller of Kubernetes.
	Jobs job.Options
}

// Log is a log to read. Its name is the file of each [Place].
type Log struct {
	Name   string
	Reader io.Reader
}

// Place is a place in a log.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// String returns file:line, a form in which editors find the place.
func (p Place) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Finding is a step that the controller could not have taken.
type Finding struct {
	Place
	// Kind, Namespace, Name, UID and ResourceVersion name the object and its version at the place.
	// ResourceVersion is empty if the log has none.
	Kind            string  `json:"kind"`
	Namespace       string  `json:"namespace,omitempty"`
	Name            string  `json:"name"`
	UID             job.UID `json:"uid,omitempty"`
	ResourceVersion string  `json:"resourceVersion,omitempty"`
	// Rule is a number of docs/invariants.md or docs/rules.md, and Problem describes the error.
	Rule    string `json:"rule"`
	Problem string `json:"problem"`
	// Unless is a fault that would make the step possible and that no log shows. It is empty if there
	// is no such fault.
	Unless string `json:"unless,omitempty"`
}

// String returns the finding in one line.
func (f Finding) String() string {
	s := fmt.Sprintf("%s: %s: %s %s/%s: %s", f.Place, f.Rule, f.Kind, f.Namespace, f.Name, f.Problem)
	if f.Unless != "" {
		s += " (unless " + f.Unless + ")"
	}
	return s
}

// Values of Finding.Unless. If one applies, the finding is wrong; no log shows whether it does.
const (
	unlessLost      = "the reply to a creation was lost, or two controllers ran at the same time"
	unlessLate      = "the controller's cache did not show its own writes, or two controllers ran at the same time"
	unlessRefused   = "a terminating namespace refused creations, " + unlessLate
	unlessRemoved   = "another client removed it"
	unlessRestarted = "the controller was restarted, or a write of it failed"
	unlessChosen    = "the watch has a selector, which the object does not match"
	unlessDeleted   = "another client deleted it"
)

// Unread is a part of a log that could not be read.
type Unread struct {
	Place
	Text string `json:"text"`
}

// Summary counts what was read, and what could not be judged.
type Summary struct {
	// Events is the number of events. Jobs, Pods and CronJobs are the numbers of different objects.
	Events   int `json:"events"`
	Jobs     int `json:"jobs"`
	Pods     int `json:"pods"`
	CronJobs int `json:"cronJobs"`
	// Transitions is the number of steps from one version of an object to the next.
	Transitions int `json:"transitions"`
	// Findings is the number of findings.
	Findings int `json:"findings"`
	// Unread are the first hundred parts that could not be read. Unreadable is the number of all
	// such parts.
	Unread     []Unread `json:"unread,omitempty"`
	Unreadable int      `json:"unreadable,omitempty"`
	// Others counts the objects of other kinds, and requests that changed nothing.
	Others int `json:"others,omitempty"`
	// Untyped counts the objects without an event type. Bodiless counts the audit events without
	// the object.
	Untyped  int `json:"untyped,omitempty"`
	Bodiless int `json:"bodiless,omitempty"`
	// Repeated counts the versions that were shown a second time, or after a later version.
	Repeated int `json:"repeated,omitempty"`
	// Gaps counts the steps in which versions may be missing. Restarts counts the restarts of
	// watches.
	Gaps     int `json:"gaps,omitempty"`
	Restarts int `json:"restarts,omitempty"`
	// Unjudged counts the creations of pods and of a CronJob's jobs that were not compared with
	// their owners, since the log does not show the owners. Undecided counts the findings that were
	// dropped, since a watch may have restarted just before them.
	Unjudged  int `json:"unjudged,omitempty"`
	Undecided int `json:"undecided,omitempty"`
}

// maxProblems is how many unreadable parts are kept.
const maxProblems = 100

// Check reads logs to their ends, and reports each finding in the order of the logs. It merges
// several logs by resource version. It returns an error only if a reader returns one. Values that
// Check cannot understand are counted in the Summary, and Unread names the first of them.
func Check(o Options, report func(Finding), logs ...Log) (Summary, error) {
	c := newChecker(o, report)
	m := &merge{summary: &c.Summary, ended: c.ended}
	for i := range logs {
		m.sources = append(m.sources, newSource(&logs[i], &c.Summary))
	}

	for {
		e, err := m.next()
		if err != nil {
			return c.Summary, err
		}
		if e == nil {
			break
		}
		c.event(e)
	}

	c.Undecided += len(c.held)
	return c.Summary, nil
}
