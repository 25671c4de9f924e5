package life

import (
	"errors"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/world"
)

// Trouble is everything that goes wrong in one round. All of it is drawn before the round. So a
// failing life can be shrunk piece by piece, and an executor may make its writes in goroutines of
// its own.
type Trouble struct {
	fault   world.Fault
	faultAt int // the number of the write
	happens int // the number of the write before which something happens; -1 for none
	picks   []int
	writes  int // the number of writes so far
}

// Begin draws the trouble of the next round, and starts it.
func (l *Life) Begin() {
	l.Injector.Begin()
	l.Trouble = Trouble{happens: -1}
	if l.Quiet {
		return
	}

	if rapid.IntRange(0, 2).Draw(l.T, "faulty") == 2 {
		faults := []world.Fault{world.Fail, world.LoseReply, world.Crash}
		l.Trouble.fault = rapid.SampledFrom(faults).Draw(l.T, "fault")
		l.Trouble.faultAt = rapid.IntRange(0, 6).Draw(l.T, "at write")
	}

	if rapid.IntRange(0, 4).Draw(l.T, "meanwhile") == 4 {
		l.Trouble.happens = rapid.IntRange(0, 5).Draw(l.T, "before write")
		l.Trouble.picks = rapid.SliceOfN(rapid.IntRange(0, 29), 4, 4).Draw(l.T, "what happens")
	}
}

// IsInterrupted reports whether something happens before the next write.
func (l *Life) IsInterrupted() bool {
	return l.Trouble.happens == l.Trouble.writes && len(l.Broken) == 0
}

// next returns the fault of the next write.
func (t *Trouble) next() world.Fault {
	t.writes++
	if t.writes-1 == t.faultAt {
		return t.fault
	}
	return world.None
}

// Try makes one write, which may have a fault, and adds the result to the story.
func (l *Life) Try(w world.Write, write func() error) (lost bool, err error) {
	fault := world.None
	l.Injector.Fault = func(world.Write) world.Fault {
		fault = l.Trouble.next()
		return fault
	}

	lost, err = l.Injector.Try(w, write)

	switch {
	case lost:
		l.Tell("%s: done, and the reply is lost", w)
	case fault == world.Crash:
		l.Tell("the program is killed before: %s", w)
	case fault == world.Fail:
		l.Tell("%s: fails", w)
	case errors.Is(err, world.ErrInjected): // after the end of the program
	case err != nil:
		l.Tell("%s: %v", w, err)
	case w.Name != "" || w.Verb == world.WriteStatus: // a stored memory is not reported
		l.tell(routine, "%s: done", w)
	}
	return lost, err
}

// Write makes a write that has no object: see Env.Write of the kits.
func (l *Life) Write(what string, write func() error) error {
	l.Writing.Lock()
	defer l.Writing.Unlock()
	_, err := l.Try(world.Write{Verb: world.Verb(what)}, write)
	return err
}

// DrawFaults makes at most one of the first writes of a round go wrong.
func DrawFaults(t *rapid.T, i *world.Injector, faults []world.Fault, writes int) {
	i.Fault = nil
	if len(faults) == 0 || rapid.IntRange(0, 2).Draw(t, "faulty") < 2 {
		return
	}

	fault := rapid.SampledFrom(faults).Draw(t, "fault")
	at, n := rapid.IntRange(0, writes-1).Draw(t, "at write"), 0
	i.Fault = func(world.Write) world.Fault {
		if n++; n-1 == at {
			return fault
		}
		return world.None
	}
}
