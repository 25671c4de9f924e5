// Package step carries out the calls of one step of a round, for the executors of plans.
package step

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrNamespaceTerminating is the error of a creation where nothing can be created any more.
var ErrNamespaceTerminating = errors.New("the namespace is being terminated")

// Step is one kind of reads or writes of a round. E is what became of one.
type Step[E any] struct {
	// Effects has what became of each call; the zero value for those that were not made.
	Effects []E
	name    string
	causes  []error // parallel to Effects
	tried   []bool
}

// New returns a step of n calls. Its name begins the text of its error.
func New[E any](name string, n int) *Step[E] {
	return &Step[E]{name: name, Effects: make([]E, n), causes: make([]error, n), tried: make([]bool, n)}
}

// Each makes the calls from a place up to another, at most so many at once, and returns
// when all of them have. A cancelled context starts no further call.
func (s *Step[E]) Each(ctx context.Context, parallel, from, to int, call func(i int) (E, error)) {
	if parallel = min(parallel, to-from); parallel <= 1 {
		for i := from; i < to && ctx.Err() == nil; i++ {
			s.call(i, call)
		}
		return
	}
	slots := make(chan struct{}, parallel)
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := from; i < to; i++ {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		if ctx.Err() != nil {
			return
		}
		wg.Go(func() {
			defer func() { <-slots }()
			s.call(i, call)
		})
	}
}

func (s *Step[E]) call(i int, call func(i int) (E, error)) {
	s.tried[i] = true
	s.Effects[i], s.causes[i] = call(i)
}

// Rest says what became of the calls that were not made, which then need none.
func (s *Step[E]) Rest(effect E) {
	for i := range s.tried {
		if !s.tried[i] {
			s.tried[i], s.Effects[i] = true, effect
		}
	}
}

// Failed is the number of calls that have failed.
func (s *Step[E]) Failed() (n int) {
	for _, cause := range s.causes {
		if cause != nil {
			n++
		}
	}
	return n
}

// Err is the first error in the order of the calls, with the number of further ones. A
// step that only a cancelled context has cut short has the error of that.
func (s *Step[E]) Err(ctx context.Context) error {
	fails := s.Failed()
	for _, cause := range s.causes {
		switch {
		case cause == nil:
		case fails == 1:
			return fmt.Errorf("%s: %w", s.name, cause)
		default:
			return fmt.Errorf("%s: %w (and %d more of %d)", s.name, cause, fails-1, len(s.causes))
		}
	}
	for _, tried := range s.tried {
		if !tried && ctx.Err() != nil {
			return fmt.Errorf("%s: %w", s.name, ctx.Err())
		}
	}
	return nil
}
