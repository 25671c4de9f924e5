package life

import (
	"context"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/world"
)

// Program is the program that a life tests. It is called after changes, at the times that it has
// requested, and at its starts.
type Program struct {
	*Life
	// Start starts the program; forget means that its stored memory is lost. A call of the
	// result is one round.
	Start func(forget bool) func(context.Context) (again time.Time, err error)
	// Before and After are called before and after each round; failed means that something
	// went wrong in it.
	Before func()
	After  func(failed bool)
	// CheckStall checks that the program has nothing to do. It is called when the program does not
	// ask to be called now.
	CheckStall func()
	// Due returns when the program must be called again even if nothing happens.
	Due func() Due
	// Busy is the rule that a program breaks by asking for rounds that do nothing. Stuck is the
	// rule that it breaks if all its rounds end with an error.
	Busy, Stuck string
	// SeesLate means that the program sees its objects late. Late is the watch through which it
	// sees them; nil if the test does not control that watch.
	SeesLate bool
	Late     *Late
	// Patience limits how long all rounds of a program may end with an error, although the program
	// has seen everything. A restarted program may have to wait, because it does not know whether
	// it has seen its last write.
	Patience time.Duration

	// Taken counts the names that other owners have taken. Each run that is skipped because its
	// name is taken may cost a round.
	Taken int
	// Again is when the program wants to be called. Zero means not at all.
	Again time.Time
	// Changed is set when the program is notified of a change during a round.
	Changed bool

	round  func(context.Context) (time.Time, error)
	errors int       // how many rounds in a row have ended with an error, without a fault
	since  time.Time // when the first of them began
}

// tooManyErrors is the number of rounds in a row that may end with an error although no fault was
// injected. A conflict with another writer fails only one round.
const tooManyErrors = 10

// maxIdle is the maximum number of rounds in a row that get nothing done and ask for another round
// within a second (L6, CL5). For each name that another owner has taken, one more is allowed. A
// round that writes only a status gets nothing done, since status writes can go on without end.
const maxIdle = 3

// Happened calls the program after a change, and then as often as it asks for a call.
func (p *Program) Happened() {
	idle := 0
	for rounds := 0; ; rounds++ {
		done := p.Done
		failed := p.Round()
		hasEffect := failed || p.Changed || p.Done > done
		hurries := !p.Again.IsZero() && p.Again.Before(p.Now().Add(time.Second))
		if idle++; hasEffect || !hurries {
			idle = 0
		}
		if idle > maxIdle+p.Taken {
			p.Breaks(p.Busy, "each round asks for another one within a second, and %d in a row get nothing done", idle)
		}

		switch {
		case p.Changed: // something has happened during the round, and the program is notified
		case p.isAtRest():
			p.CheckStall()
			p.Stop()
			return
		case rounds > 2 && !p.Late.HasSeenAll(): // the program waits to see its changes
			p.errors = 0
			return
		case p.errors > tooManyErrors && !p.Now().Before(p.since.Add(p.Patience)):
			p.Breaks(p.Stuck, "the program does not get on: %d rounds in a row have ended with an error, "+
				"and none was injected", p.errors)
		case rounds > 1000:
			p.Breaks(p.Busy, "the program asks for one round after the other")
		case p.Again.After(p.Now()):
			p.MoveClock(p.Again)
		}
		p.Stop()
	}
}

// Round calls the program once, and starts it again if it was killed. It reports whether
// something went wrong.
func (p *Program) Round() (failed bool) {
	p.Life.Begin()
	p.Before()
	p.Changed = false

	again, err := p.round(context.Background())
	p.Again = again

	if p.Injector.Crashed() {
		p.StartAgain("starts again")
		p.Again = p.Now()
	} else if err != nil {
		p.Tell("the round ends with an error: %v", err)
		p.Again = p.Now().Add(time.Second)
	}

	failed = err != nil || p.Injector.Crashed()

	switch {
	case !failed:
		p.errors = 0
	case p.Trouble.fault == world.None:
		if p.errors == 0 {
			p.since = p.Now()
		}
		p.errors++
	}

	p.After(failed)
	if !failed && p.Due != nil {
		p.checkDue()
	}
	p.Stop()
	return failed
}

// Run starts the program. With forget, its stored memory is lost.
func (p *Program) Run(forget bool) { p.round = p.Start(forget) }

// StartAgain starts the program, with its stored memory or without.
func (p *Program) StartAgain(says string) {
	forget := rapid.Bool().Draw(p.T, "forget")
	memory := "with its stored memory"
	if forget {
		memory = "without its memory"
	}
	p.Tell("the program %s %s", says, memory)
	p.Run(forget)
}

// Pass makes time pass, and calls the program at the times that it has requested.
func (p *Program) Pass(d time.Duration) {
	until := p.Now().Add(d)
	for range 100 {
		if p.Again.IsZero() || p.Again.After(until) {
			break
		}
		if p.Again.After(p.Now()) {
			p.MoveClock(p.Again)
		}
		p.TellRoutine("the time has come that the program has asked for")
		p.Happened()
	}

	switch {
	case !until.After(p.Now()):
	case p.MoveClock(until):
		p.Happened()
	case p.isAtRest():
		p.CheckStall() // the passing of time must not give it anything to do
		p.Stop()
	}
}

// isAtRest reports whether the program does not want to be called now.
func (p *Program) isAtRest() bool {
	return p.Again.IsZero() || p.Again.After(p.Now().Add(time.Second))
}

// WakeUp makes time pass until the program wants to be called, if that is within the given time.
func (p *Program) WakeUp(most time.Duration) {
	if !p.Again.IsZero() && p.Again.Before(p.Now().Add(most)) {
		p.Pass(p.Again.Sub(p.Now()))
	}
}

// MoveClock moves the clock. It reports whether the program was shown something before that.
func (p *Program) MoveClock(now time.Time) (shown bool) { return p.Late.SetNow(p.Life, now) }

// setBack sets the clock back (F8, CI14).
func (p *Program) setBack(by time.Duration) {
	p.Tell("the clock is set back by %s", by)
	p.MoveClock(p.Now().Add(-by))
	p.Happened()
}

// Deliver shows the program one object or all objects, and then calls the program.
func (p *Program) Deliver() {
	shown := false
	if rapid.IntRange(0, 2).Draw(p.T, "all") == 2 {
		shown = p.Late.All()
	} else {
		shown = p.Late.One()
	}
	if shown {
		p.Happened()
	}
}

// Tells returns a step that runs act. The program is notified of the change, immediately or by its
// watch.
func (p *Program) Tells(act func() bool) func(*rapid.T) {
	return func(*rapid.T) {
		if act() && p.Late == nil {
			p.Happened()
		}
	}
}

// Settle calls the program after a change. A program that sees changes late is called again when it sees them.
func (p *Program) Settle() {
	if p.Late != nil {
		p.settleLate()
		return
	}
	p.Happened()
	if p.SeesLate {
		p.Happened()
		p.Happened()
	}
}

// settleLate shows the program the results of its writes, until it writes no more.
func (p *Program) settleLate() {
	for n := 0; ; n++ {
		p.Late.All()
		p.Happened()
		switch {
		case p.Late.HasSeenAll():
			return
		case n > 200:
			p.Breaks(p.Busy, "the program writes again and again, whatever it sees")
			p.Stop()
		}
	}
}

// Interfere makes something happen between two writes of a round, if that was drawn: a delivery, an
// action of others, or an action of a user. Each function reports whether it has done something.
func (p *Program) Interfere(others, user func() bool) {
	if !p.IsInterrupted() {
		return
	}
	p.Meanwhile = "meanwhile, "
	defer func() { p.Meanwhile = "" }()

	who := 2
	if p.Late != nil {
		who = 3
	}
	switch who = p.Pick("who", who); {
	case who == 2:
		p.Changed = p.Late.One() || p.Changed
	case who == 0 || user == nil:
		p.Changed = others() && p.Late == nil || p.Changed
	case user():
		p.Changed = p.Late == nil || p.Changed
	}
}
