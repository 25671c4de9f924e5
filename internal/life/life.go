// Package life holds what the test kits of Jobs and CronJobs share: one random
// life with its clock, its faults, its story, and its violations.
package life

import (
	"sync"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobcheck"
)

// Life is one random life.
type Life struct {
	T *rapid.T
	// Writing is locked during a write.
	Writing  sync.Mutex
	Injector world.Injector
	// Quiet is set once there are no more faults.
	Quiet bool
	// Trouble is everything that goes wrong in this round.
	Trouble Trouble
	// Meanwhile is the text before events within a round. Between rounds it is empty.
	Meanwhile string
	// Broken are the violations.
	Broken []jobcheck.Violation
	// Writes counts the writes that took effect, except writes of the program's own memory. Done
	// counts the writes that a program can make only a limited number of times. It includes a
	// status write only if the kit counts it.
	Writes, Done int
	uids         map[job.UID]bool // the UIDs of all objects so far

	course course

	mu    sync.Mutex // guards the fields below: stores may ask for the time during a write
	start time.Time
	now   time.Time
	far   time.Time // the latest time so far
	story story
}

// New begins a life.
func New(t *rapid.T) *Life {
	return &Life{T: t, start: world.Start, now: world.Start, far: world.Start}
}

// StartAt makes the life begin at another time than world.Start.
func (l *Life) StartAt(start time.Time) { l.start, l.now, l.far = start, start, start }

// Now returns the time in this life.
func (l *Life) Now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// SetNow moves the clock.
func (l *Life) SetNow(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = now
	if now.After(l.far) {
		l.far = now
	}
}

// Farthest returns the latest time that the clock has shown. It is later than Now after the clock
// was set back.
func (l *Life) Farthest() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.far
}

// Breaks notes a violation.
func (l *Life) Breaks(rule, format string, args ...any) {
	l.Note(Wrong(true, rule, format, args...))
}

// Note notes the violations that a check has found.
func (l *Life) Note(all []jobcheck.Violation) {
	for _, v := range all {
		l.Broken = append(l.Broken, v)
		l.tell(violation, "%s", v.Error())
	}
}

// Must notes that the store has refused something that the test must do.
func (l *Life) Must(what string, err error) {
	if err != nil {
		l.Breaks("Store", "%s: %v", what, err)
	}
}

// Stop ends the life if something is broken.
func (l *Life) Stop() {
	if len(l.Broken) > 0 {
		l.T.Fatalf("%v", l.Broken[0])
	}
}

// Pick draws a number below n. In the middle of a round it takes a number that was drawn before the
// round.
func (l *Life) Pick(label string, n int) int {
	if l.Meanwhile == "" {
		return rapid.IntRange(0, n-1).Draw(l.T, label)
	}
	drawn := l.Trouble.picks[0]
	l.Trouble.picks = l.Trouble.picks[1:]
	return drawn % n
}
