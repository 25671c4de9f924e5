package blackbox

import (
	"fmt"
	"strings"
	"time"
)

// Action is what a step of a life does.
type Action string

// The actions.
const (
	// Wait lets time pass.
	Wait Action = "Wait"
	// Succeed and Fail let the oldest child that runs end.
	Succeed Action = "Succeed"
	Fail    Action = "Fail"
	// Suspend, Resume and Edit are a user's; Edit sets the schedule of the step, which may be invalid, or how many run
	// concurrently. Touch sets a label, which changes nothing.
	Suspend Action = "Suspend"
	Resume  Action = "Resume"
	Edit    Action = "Edit"
	Touch   Action = "Touch"
	// Remove lets a user delete the oldest child, and Delete the parent. That of a Cron is made again after a minute. A
	// Batch has no Delete.
	Remove Action = "Remove"
	Delete Action = "Delete"
	// Restart ends the program and starts it again after the time of the step.
	Restart Action = "Restart"
	// Break lets the Nth write from now go wrong.
	Break Action = "Break"
	// Hold lets the watches of a kind show nothing for the time of the step, so that what happens to
	// other kinds is seen first.
	Hold Action = "Hold"
	// Relist ends all watches as if their version were too old: the caches list everything again, and changes that
	// they had not seen yet become one.
	Relist Action = "Relist"
	// Overlap starts a second replica, and ends the first one after the time of the step.
	Overlap Action = "Overlap"
	// Skew puts the clock of [Now] ahead by the time of the step, or behind if it is negative.
	Skew Action = "Skew"
)

// Step is one step of a life.
type Step struct {
	Do  Action
	For time.Duration
	// Schedule and AtOnce are what Edit sets, or Set, a JSON merge patch of the example.
	Schedule string
	AtOnce   int32
	Set      string
	// Fault is the fault of a Break, and Nth says at which write from now it happens. In the life
	// of an Operator, Nth also selects the object that Remove deletes.
	Fault Fault
	Nth   int
	// Of is the kind whose watches Hold pauses, in the plural such as "pods". "" means all kinds.
	Of string
}

// Life is the history of one parent. Played again, it does the same again, as far as the program does.
type Life[S Settings] struct {
	Settings S
	// Begin is when it begins, as a time of the day.
	Begin time.Duration
	// Lag is how long the watches are behind.
	Lag   time.Duration
	Steps []Step
}

// The lives of the profiles.
type (
	CronLife  = Life[CronSettings]
	BatchLife = Life[BatchSettings]
)

// Settings are what a parent is made of: [CronSettings], [BatchSettings] or [OperatorSettings].
type Settings interface {
	CronSettings | BatchSettings | OperatorSettings
	fmt.Stringer
	source() string
}

// source returns the life as a Go literal.
func (l Life[S]) source() string {
	var b strings.Builder
	kind := "CronLife"
	switch any(l.Settings).(type) {
	case BatchSettings:
		kind = "BatchLife"
	case OperatorSettings:
		kind = "OperatorLife"
	}
	fmt.Fprintf(&b, "blackbox.%s{\n\t\tSettings: %s,\n", kind, l.Settings.source())
	fmt.Fprintf(&b, "\t\tBegin: %d, // %s\n\t\tLag: %d, // %s\n", l.Begin, l.Begin, l.Lag, l.Lag)
	b.WriteString("\t\tSteps: []blackbox.Step{\n")
	for _, s := range l.Steps {
		b.WriteString("\t\t\t" + s.source() + ",\n")
	}
	b.WriteString("\t\t},\n\t}")
	return b.String()
}

func (s Step) source() string {
	var b strings.Builder
	fmt.Fprintf(&b, "{Do: blackbox.%s", s.Do)
	if s.For != 0 {
		fmt.Fprintf(&b, ", For: %d", s.For)
	}
	if s.Schedule != "" {
		fmt.Fprintf(&b, ", Schedule: %q", s.Schedule)
	}
	if s.AtOnce != 0 {
		fmt.Fprintf(&b, ", AtOnce: %d", s.AtOnce)
	}
	if s.Set != "" {
		fmt.Fprintf(&b, ", Set: %q", s.Set)
	}
	if s.Of != "" {
		fmt.Fprintf(&b, ", Of: %q", s.Of)
	}
	if s.Fault != NoFault {
		fmt.Fprintf(&b, ", Fault: blackbox.%s", s.Fault)
	}
	if s.Nth != 0 {
		fmt.Fprintf(&b, ", Nth: %d", s.Nth)
	}
	return b.String() + "}"
}

// Result is what was seen of a life.
type Result struct {
	Violations []Violation
	// Story is what happened, a line each.
	Story []string
	// Writes is how many the program has made, and Requests how many requests.
	Writes, Requests int
	// Events are what the program has reported.
	Events []Event

	attempts int // writes that the program has tried
}
