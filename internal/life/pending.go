package life

import (
	"encoding/json"
	"errors"

	"github.com/batchplan/batchplan/internal/world"
)

// Pending is the last plan of a program, P, with the answers to its calls so far. A kit carries the
// plan out once more, on a backend that gives the same answers, A. So the kit gets the conclusion
// that the program must have reached.
type Pending[P, A any] struct {
	Plan    P
	answers map[world.Write][]A
}

// ErrNotMade is the answer to a call that the program has not made.
var ErrNotMade = errors.New("the program has not made the call")

// NewPending copies the plan: a program may reuse the memory of a plan before the round is over.
func NewPending[P, A any](l *Life, plan *P) *Pending[P, A] {
	p := &Pending[P, A]{answers: map[world.Write][]A{}}
	text, err := json.Marshal(plan)
	if err == nil {
		err = json.Unmarshal(text, &p.Plan)
	}
	l.Must("copy the plan", err)
	return p
}

// Note notes an answer. Calls that are equal are answered in their order.
func (p *Pending[P, A]) Note(call world.Write, answer A) {
	if p != nil {
		p.answers[call] = append(p.answers[call], answer)
	}
}

// Answer returns the next answer to the call, if the program has made it.
func (p *Pending[P, A]) Answer(call world.Write) (answer A, made bool) {
	all := p.answers[call]
	if len(all) == 0 {
		return answer, false
	}
	p.answers[call] = all[1:]
	return all[0], true
}
