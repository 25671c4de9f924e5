package blackbox

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Action is the kind of a step.
type Action string

// The actions.
const (
	// Wait lets time pass.
	Wait Action = "Wait"
	// Succeed and Fail end the oldest running child.
	Succeed Action = "Succeed"
	Fail    Action = "Fail"
	// Suspend, Resume, Edit and Touch are changes by a user. Edit sets the step's schedule, which
	// may be invalid, or the number of children that run concurrently. Touch sets a label without a
	// meaning.
	Suspend Action = "Suspend"
	Resume  Action = "Resume"
	Edit    Action = "Edit"
	Touch   Action = "Touch"
	// Remove deletes the oldest child on behalf of a user. Delete deletes the parent. The parent of
	// a Cron or a Batch is created again, under the same name, once its children are gone.
	Remove Action = "Remove"
	Delete Action = "Delete"
	// Restart ends the program and starts it again after the time of the step.
	Restart Action = "Restart"
	// Break applies the Fault to the Nth write from now.
	Break Action = "Break"
	// Hold makes the watches of a kind show nothing new for the time of the step, so that the
	// program sees changes of other kinds first.
	Hold Action = "Hold"
	// Relist ends all watches as if their version were too old: the caches list everything again,
	// and see several missed changes as one.
	Relist Action = "Relist"
	// Overlap starts a second replica, and ends the first one after the time of the step.
	Overlap Action = "Overlap"
	// Expire deletes each child once it has ended and the time of the step has passed, from now on, as
	// ttlSecondsAfterFinished does for Jobs, and the garbage collector for pods.
	Expire Action = "Expire"
	// Skew puts the clock of Now ahead by the time of the step, or behind if it is negative.
	Skew Action = "Skew"
	// Several is not a step. Program.Without has it for a program that can have only one parent.
	Several Action = "Several"
)

// Step is one step of a life.
type Step struct {
	Do  Action
	For time.Duration
	// Parent is the parent on which a user acts, or whose child ends: 0 for the one with the Settings of the
	// life, n for the one with Beside[n-1].
	Parent int
	// Edit sets Schedule or AtOnce, or applies Set, a JSON merge patch of the example.
	Schedule string
	AtOnce   int32
	Set      string
	// Fault is the fault of a Break, which applies it to the Nth write from now on. In the life of
	// an Operator, Nth also selects the object that Remove deletes.
	Fault Fault
	Nth   int
	// Amid is a fault during which a user acts, in the life of an Operator: Restart while the
	// program is down, Overlap while two replicas run, or Hold while all watches show nothing new.
	// For is the duration of that fault.
	Amid Action
	// Of is the plural of the kind whose watches Hold pauses, such as "pods"; "" means all kinds.
	Of string
}

// Life is a run of the test with one parent or several, as a list of steps. Playing a life again gives
// the same result, as far as the program is deterministic.
type Life[S Settings] struct {
	Settings S
	// Beside has the settings of more parents, at most 20. The first one has the name of the parent, and
	// is in another namespace. The others are in the same namespace, with names that differ in the last
	// of 52 letters.
	Beside []S
	// Begin is the time of day at which the life begins.
	Begin time.Duration
	// Lag is the delay of the watches.
	Lag   time.Duration
	Steps []Step
}

// CronLife is a life of a [Cron]'s parent, and BatchLife one of a [Batch]'s.
type (
	CronLife  = Life[CronSettings]
	BatchLife = Life[BatchSettings]
)

// Settings are the settings of a parent: [CronSettings], [BatchSettings] or [OperatorSettings].
type Settings interface {
	CronSettings | BatchSettings | OperatorSettings
	fmt.Stringer
}

// source returns the life as a Go literal.
func (l Life[S]) source() string {
	kind := strings.Replace(reflect.TypeOf(l.Settings).String(), "Settings", "Life", 1)
	var b strings.Builder
	fmt.Fprintf(&b, "%s{\n\t\tSettings: %T%s,\n", kind, l.Settings, source(reflect.ValueOf(l.Settings)))
	if len(l.Beside) > 0 {
		fmt.Fprintf(&b, "\t\tBeside: %T{\n", l.Beside)
		for _, s := range l.Beside {
			b.WriteString("\t\t\t" + source(reflect.ValueOf(s)) + ",\n")
		}
		b.WriteString("\t\t},\n")
	}
	fmt.Fprintf(&b, "\t\tBegin: %d, // %s\n\t\tLag: %d, // %s\n", l.Begin, l.Begin, l.Lag, l.Lag)
	b.WriteString("\t\tSteps: []blackbox.Step{\n")
	for _, s := range l.Steps {
		b.WriteString("\t\t\t" + source(reflect.ValueOf(s)) + ",\n")
	}
	b.WriteString("\t\t},\n\t}")
	return b.String()
}

// source returns a value as Go source. The literal of a struct has no type, and no fields that are
// zero.
func source(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Struct:
		var fields []string
		for field, is := range v.Fields() {
			if !is.IsZero() {
				fields = append(fields, field.Name+": "+source(is))
			}
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case reflect.Pointer:
		return fmt.Sprintf("new(%s(%s))", v.Type().Elem(), source(v.Elem()))
	}
	switch of := v.Interface().(type) {
	case Action, Fault:
		return fmt.Sprint("blackbox.", of)
	case time.Duration:
		return fmt.Sprint(int64(of))
	}
	return fmt.Sprintf("%#v", v.Interface())
}

// Result is the outcome of a life.
type Result struct {
	Violations []Violation
	// Story has a line for each thing that happened.
	Story []string
	// Writes is the number of the program's writes that took effect. Requests is the number of its
	// requests.
	Writes, Requests int
	// Events are the events that the program has written.
	Events []Event

	// changing has the numbers of the writes that changed something, for [Step].Nth of a first step. All
	// writes that were tried are numbered.
	changing []int
	// errors are the errors that the program has logged, and how often.
	errors map[string]int
}
