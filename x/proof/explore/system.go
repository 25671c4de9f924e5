package explore

import "fmt"

// System is a system to explore. S is its state: numbers and flags, in structs and arrays.
type System[S any] interface {
	// Start returns the states in which the system can start.
	Start() []S
	// Worker returns a worker. Each goroutine of a search has its own.
	Worker() Worker[S]
	// Moves names the kinds of moves. Rules names what else is counted: see [Tally].
	Moves() []string
	Rules() []string
	// Bytes returns about how much memory the system itself takes, besides the states.
	Bytes() int64
}

// Worker computes the moves from states. It is used by one goroutine.
type Worker[S any] interface {
	// Expand calls step for each move from s.
	Expand(s *S, tally *Tally, step func(Step[S]))
	// Calm makes the step from s in which nothing goes wrong. If there is no such step, s is at
	// rest. An error means that s breaks an invariant of states at rest, or that the step breaks an
	// invariant.
	Calm(s *S) (next S, rest bool, err error)
	// IsPassing reports whether the next calm step from s needs no check of its own, because
	// [Worker.Expand] makes the same moves and the search visits the next state anyway. Calm steps
	// must not lead from one such state to another without end.
	IsPassing(s *S) bool
	// Describe describes the step in words. The search calls it for counterexamples.
	Describe(from *S, step Step[S]) string
}

// Ender is a [Worker] that can distinguish the ends of states at rest. A search then checks that no
// fault changes the end: calm steps lead to the same end from the state with the fault and from the
// state without it.
type Ender[S any] interface {
	// End returns a number that identifies the end of a state at rest. It is less than 2⁴⁸. 0 means
	// that the end cannot be compared with others.
	End(s *S) uint64
	// DescribeEnd describes the end of a state at rest in words.
	DescribeEnd(s *S) string
}

// Step is one move and the state to which it leads.
type Step[S any] struct {
	To S
	// Kind is the kind of the move, a place in [System.Moves].
	Kind int
	// Detail holds more about the move, in a form that only the system knows.
	Detail uint32
	// Fault is set if the move is a fault that may happen instead of another move. That other move
	// is the last one before it without Fault. See [Ender].
	Fault bool
	// Broken is the invariant that the move breaks, or nil.
	Broken error
}

// Tally counts the moves and rules that a search exercises.
type Tally struct {
	// Taken counts the moves of each kind. Fresh counts those that led to a new state.
	Taken, Fresh []int
	// Rules counts how often each rule was exercised, by its place in [System.Rules].
	Rules []int
	// Cut counts the moves that lead out of the scope, for example to one pod too many.
	Cut int
}

func newTally[S any](system System[S]) Tally {
	moves := len(system.Moves())
	return Tally{Taken: make([]int, moves), Fresh: make([]int, moves), Rules: make([]int, len(system.Rules()))}
}

func (t *Tally) add(other *Tally) {
	for i := range t.Taken {
		t.Taken[i] += other.Taken[i]
		t.Fresh[i] += other.Fresh[i]
	}
	for i := range t.Rules {
		t.Rules[i] += other.Rules[i]
	}
	t.Cut += other.Cut
}

// Counterexample is the way to a broken invariant.
type Counterexample[S any] struct {
	// Start is the state in which the way begins, and Steps are the moves from there.
	Start S
	Steps []Step[S]
	// Calm is the number of steps at the end that come from [Worker.Calm].
	Calm int
	// Err is the invariant that is broken in the end.
	Err error
}

// Words describes the steps, a line each.
func (c *Counterexample[S]) Words(w Worker[S]) []string {
	from, lines := &c.Start, make([]string, 0, len(c.Steps))
	for i := range c.Steps[:len(c.Steps)-c.Calm] {
		lines = append(lines, fmt.Sprintf("%2d. %s", i+1, w.Describe(from, c.Steps[i])))
		from = &c.Steps[i].To
	}
	if c.Calm > 0 {
		lines = append(lines, fmt.Sprintf("then %d calm steps", c.Calm))
	}
	return lines
}
