package life

import (
	"fmt"
	"time"

	"pgregory.net/rapid"
)

// Steps are the things that can happen, by name.
type Steps map[string]func(*rapid.T)

// Add adds a step that is n times as likely as others.
func (s Steps) Add(n int, name string, happens func(*rapid.T)) {
	for i := range n {
		if i > 0 {
			s[fmt.Sprint(name, " ", i+1)] = happens
		} else {
			s[name] = happens
		}
	}
}

// Steps returns the steps of every program: time passes, the clock is set back, the program
// restarts, is called without a change, or is shown something. The clock is set back by one of the
// durations in argument back.
func (p *Program) Steps(passes func(*rapid.T) time.Duration, back ...time.Duration) Steps {
	steps := Steps{
		"time":      func(t *rapid.T) { p.Pass(passes(t)) },
		"clock":     func(t *rapid.T) { p.setBack(rapid.SampledFrom(back).Draw(t, "back")) },
		"restart":   func(*rapid.T) { p.Restart() },
		"no change": func(*rapid.T) { p.Happened() },
	}
	if p.Late != nil {
		steps.Add(5, "watch", func(*rapid.T) { p.Deliver() })
	}
	return steps
}

// Restart ends the program between two rounds, and starts it again.
func (p *Program) Restart() {
	p.StartAgain("is ended, and starts again")
	p.Happened()
}
