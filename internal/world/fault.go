package world

import (
	"errors"
	"time"
)

// Start is the time at which a world begins.
var Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Fault is a way in which one write goes wrong.
type Fault uint8

const (
	// None lets the write through.
	None Fault = iota
	// Fail refuses the write (F3).
	Fail
	// LoseReply applies the write and reports an error (F4).
	LoseReply
	// Crash ends the controller before the write: nothing more is written in this
	// round, and its memory is lost (F1).
	Crash
)

// Verb is the kind of a write.
type Verb string

// The verbs of the writes.
const (
	Adopt       Verb = "adopt"
	Release     Verb = "release"
	WriteGroup  Verb = "group"
	Create      Verb = "create"
	Delete      Verb = "delete"
	Untrack     Verb = "untrack"
	WriteStatus Verb = "status"
	// StoreBackfills stores the progress of backfills at the end of a round.
	StoreBackfills Verb = "store the backfills"
)

// Write is one write of a controller.
type Write struct {
	Verb Verb
	// Name is the pod or job that is written, or the prefix of its name before it is
	// created. A status has none.
	Name string
}

// String returns the verb and the name.
func (w Write) String() string {
	if w.Name == "" {
		return string(w.Verb)
	}
	return string(w.Verb) + " " + w.Name
}

// ErrInjected is the error of a write that fails by a fault.
var ErrInjected = errors.New("injected fault")

// Injector stands between a controller and a backend, and makes writes go wrong. The
// zero value lets all of them through.
type Injector struct {
	// Fault, if not nil, decides about each write before it is made.
	Fault func(Write) Fault
	// Written, if not nil, is called after each write that took effect.
	Written func(Write)
	// Writes counts the writes that took effect.
	Writes int

	crashed bool
}

// Begin starts a round.
func (i *Injector) Begin() { i.crashed = false }

// Crashed reports whether the controller has crashed in this round.
func (i *Injector) Crashed() bool { return i.crashed }

// Try makes one write, unless a fault keeps it from taking effect. It reports whether
// the reply was lost.
func (i *Injector) Try(w Write, apply func() error) (lost bool, err error) {
	fault := i.decide(w)
	if fault == Fail || fault == Crash {
		return false, ErrInjected
	}

	if err := apply(); err != nil {
		return false, err
	}

	i.Writes++
	if i.Written != nil {
		i.Written(w)
	}
	if fault == LoseReply {
		return true, ErrInjected
	}
	return false, nil
}

// CrashesBefore reports whether the controller crashes before a write that can have no other fault.
func (i *Injector) CrashesBefore(w Write) bool { return i.decide(w) == Crash }

// decide returns the fault of a write. Nothing is written after a crash.
func (i *Injector) decide(w Write) Fault {
	switch {
	case i.crashed:
		return Crash
	case i.Fault == nil:
		return None
	}

	fault := i.Fault(w)
	i.crashed = fault == Crash
	return fault
}
