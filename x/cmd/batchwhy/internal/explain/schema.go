package explain

import (
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
)

// SchemaVersion is the version of the report's JSON. It grows if a field is removed or changes its
// meaning, but not if a field is added.
const SchemaVersion = 1

// Report explains all Jobs and CronJobs of an input.
type Report struct {
	SchemaVersion int `json:"schemaVersion"`
	// At is the time for which everything is explained.
	At      time.Time     `json:"at"`
	Objects []Explanation `json:"objects"`
	// Findings are about the input as a whole.
	Findings []Finding `json:"findings,omitempty"`
	// Problems are the parts of the input that could not be read.
	Problems []manifest.Problem `json:"problems,omitempty"`
	// MoreProblems counts the problems that Problems leaves out.
	MoreProblems int `json:"moreProblems,omitempty"`
}

// State is what a Job or CronJob does, in a word.
type State string

// The states of Jobs and CronJobs.
const (
	Running   State = "running"   // pods are active
	Waiting   State = "waiting"   // no pod is active, and something holds the next one back
	Starting  State = "starting"  // no pod exists yet
	Suspended State = "suspended" // spec.suspend
	Ending    State = "ending"    // the end is decided, and pods are still to be counted
	Complete  State = "complete"
	Failed    State = "failed"
	Deleting  State = "deleting"  // deletionTimestamp
	Elsewhere State = "elsewhere" // spec.managedBy names another controller
	Scheduled State = "scheduled" // a CronJob that waits for its next run
	Held      State = "held"      // a CronJob whose due run is held back
	Broken    State = "broken"    // the controller cannot act on the object
	Stuck     State = "stuck"     // the object does not progress by itself
	Failing   State = "failing"   // a CronJob whose runs start and do not succeed
)

// Explanation explains one Job or CronJob.
type Explanation struct {
	Kind      string  `json:"kind"`
	Namespace string  `json:"namespace,omitempty"`
	Name      string  `json:"name"`
	UID       job.UID `json:"uid,omitempty"`
	// Of is the UID by which the input knows the object. A manifest also has one.
	Of job.UID `json:"-"`
	// owner is the UID of the CronJob that controls a Job, or "".
	owner job.UID
	// Source is where the object is in the input.
	Source string `json:"source,omitempty"`
	State  State  `json:"state"`
	// Summary is the state in a sentence.
	Summary string `json:"summary"`
	// Next is what the controller will do, the earliest first.
	Next []Step `json:"next,omitempty"`
	// Facts are sentences about limits, rules and pods.
	Facts    []Fact    `json:"facts,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	// Schedule is the schedule of a CronJob.
	Schedule *Schedule `json:"schedule,omitempty"`
	// Pods are the pods of a Job, at most 100. The ones that matter most come first.
	Pods []Pod `json:"pods,omitempty"`
	// MorePods counts the pods that Pods leaves out.
	MorePods int       `json:"morePods,omitempty"`
	Timeline *Timeline `json:"timeline,omitempty"`
	// Plan is the plan of the controller's round at the time of the report, as text.
	Plan string `json:"plan,omitempty"`
	// Forecast is what happens until a later time, if pods behave as they have so far.
	Forecast *Forecast `json:"forecast,omitempty"`
}

// Step is something that the controller does or waits for.
type Step struct {
	// At is zero for a step that happens now, or after an event whose time is unknown.
	At   time.Time `json:"at,omitzero"`
	Text string    `json:"text"`
	// Reason is the name of the plan's reason, such as "Backoff".
	Reason string `json:"reason"`
	// Inferred is true if the step depends on the controller's memory, which no object shows.
	Inferred bool `json:"inferred,omitempty"`
}

// Fact is a sentence about one topic.
type Fact struct {
	Topic    string `json:"topic"`
	Text     string `json:"text"`
	Inferred bool   `json:"inferred,omitempty"`
}

// Severity is how bad a finding is.
type Severity string

// The severities. An error stops the work. A warning will hurt later. A note is about something
// that is not wrong but often surprises.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Finding is something that is wrong or will hurt later.
type Finding struct {
	Severity Severity `json:"severity"`
	// Code is a stable name, such as "PodPending".
	Code string `json:"code"`
	Text string `json:"text"`
	// Inferred is true if the finding depends on facts that no object shows.
	Inferred bool `json:"inferred,omitempty"`
	// Remedies are ways to deal with the finding. Those for the most likely cause come first.
	Remedies []*Remedy `json:"remedies"`
}

// Remedy is something that a person can do about a finding.
type Remedy struct {
	// If is the condition under which the remedy helps, in case the finding has several remedies.
	If string `json:"if,omitempty"`
	// Do is a sentence that says what to do.
	Do string `json:"do"`
	// Command carries out Do, or shows what a person needs to know for it.
	Command string `json:"command,omitempty"`
	// Risk is a sentence that says when the command is safe, and what it costs.
	Risk string `json:"risk"`

	acts *[]*Act
}

// Pod describes the state of one pod of a Job.
type Pod struct {
	Name  string `json:"name"`
	Index *int32 `json:"index,omitempty"`
	Phase string `json:"phase"`
	Text  string `json:"text"`
}

// Schedule is the schedule of a CronJob in words, with its runs.
type Schedule struct {
	Spec string `json:"spec"`
	Zone string `json:"zone"`
	// Sentence is the schedule in words.
	Sentence string `json:"sentence,omitempty"`
	// Last are the last runs, newest first; Next are the next ones.
	Last []Run `json:"last,omitempty"`
	Next []Run `json:"next,omitempty"`
	// Missed is the number of runs that came due after the last recorded run and will never start.
	// MissedRuns has the latest of them, newest first.
	Missed     int         `json:"missed,omitempty"`
	MissedRuns []time.Time `json:"missedRuns,omitempty"`
}

// Run is a run of a schedule and its result.
type Run struct {
	At time.Time `json:"at"`
	// Outcome is the result in a word. Text is the result in a sentence.
	Outcome string `json:"outcome"`
	Job     string `json:"job,omitempty"`
	Text    string `json:"text"`
}

// Forecast is what happens if pods behave as they have so far.
type Forecast struct {
	Until      time.Time `json:"until"`
	Assumption string    `json:"assumption"`
	Events     []Step    `json:"events,omitempty"`
	// Cut is true if the forecast leaves out later events.
	Cut bool `json:"cut,omitempty"`
}

// Timeline is a drawing of the past and the future, without sizes and colours.
type Timeline struct {
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	Now   time.Time `json:"now"`
	Lanes []Lane    `json:"lanes"`
	// More counts the lanes that are left out.
	More int `json:"more,omitempty"`
}

// Lane is one row of a timeline.
type Lane struct {
	Label string `json:"label"`
	Bars  []Bar  `json:"bars,omitempty"`
	Marks []Mark `json:"marks,omitempty"`
}

// Bar is a span of a lane.
type Bar struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Kind is pending, running, succeeded, failed, ignored, terminating, backoff,
	// suspended, job, complete or future.
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// Mark is a moment of a lane.
type Mark struct {
	At time.Time `json:"at"`
	// Kind is deadline, run, started, missed, end, expiry or retry.
	Kind string `json:"kind"`
	Text string `json:"text"`
}
