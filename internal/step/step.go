// Package step carries out the calls of one step of a round, for the executors of plans.
package step

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ErrNamespaceTerminating is the error of a creation in a namespace in which nothing can be created any more.
var ErrNamespaceTerminating = errors.New("the namespace is being terminated")

// defaultParallel is the number of concurrent calls if none is given.
const defaultParallel = 16

// Each makes the calls from 0 to n-1, at most parallel at a time, and returns when all of them
// have. A cancelled context starts no further call.
func Each(ctx context.Context, parallel, n int, call func(i int)) {
	if parallel <= 0 {
		parallel = defaultParallel
	}
	if parallel = min(parallel, n); parallel <= 1 {
		for i := 0; i < n && ctx.Err() == nil; i++ {
			call(i)
		}
		return
	}

	slots := make(chan struct{}, parallel)
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range n {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		if ctx.Err() != nil {
			return
		}

		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() { <-slots }()
			call(i)
		}()
	}
}

// As returns a backend as a type with more methods: the backend itself, or the nearest one that it wraps.
func As[T, B any](b B) (as T, ok bool) {
	for {
		if as, ok = any(b).(T); ok {
			return as, true
		}
		wrapper, wraps := any(b).(interface{ Unwrap() B })
		if !wraps {
			return as, false
		}
		b = wrapper.Unwrap()
	}
}

// Step is one kind of reads or writes of a round. E is the result of one call.
type Step[E any] struct {
	// Effects has the result of each call; the zero value for those that were not made.
	Effects []E
	calls   []call // parallel to Effects
}

// call records whether a call was made, and its error if it has failed.
type call struct {
	made  bool
	cause error
}

// New returns a step of n calls.
func New[E any](n int) *Step[E] {
	if n == 1 { // most steps are a single call, and need only one piece of memory
		var s struct {
			Step[E]
			effects [1]E
			calls   [1]call
		}
		s.Effects, s.Step.calls = s.effects[:], s.calls[:]
		return &s.Step
	}
	return &Step[E]{Effects: make([]E, n), calls: make([]call, n)}
}

// Each makes all calls of the step with the function [Each], and records their results.
func (s *Step[E]) Each(ctx context.Context, parallel int, call func(i int) (E, error)) {
	Each(ctx, parallel, len(s.Effects), func(i int) {
		effect, cause := call(i)
		s.Set(i, effect, cause)
	})
}

// Set records the result of a call, and the error if it has failed. It may be called concurrently
// for different calls.
func (s *Step[E]) Set(i int, effect E, cause error) {
	s.Effects[i], s.calls[i] = effect, call{true, cause}
}

// Rest fills in results for calls that were skipped.
func (s *Step[E]) Rest(effect E) {
	for i := range s.calls {
		if !s.calls[i].made {
			s.Set(i, effect, nil)
		}
	}
}

// Failed returns the number of failed calls.
func (s *Step[E]) Failed() (n int) {
	for i := range s.calls {
		if s.calls[i].cause != nil {
			n++
		}
	}
	return n
}

// Err returns the first error in the order of the calls, with the number of further ones. If no
// call has failed, but calls were skipped because the context was cancelled, Err returns the error
// of the context.
func (s *Step[E]) Err(ctx context.Context, name string) error {
	fails := s.Failed()
	for i := range s.calls {
		switch cause := s.calls[i].cause; {
		case cause == nil:
		case fails == 1:
			return fmt.Errorf("%s: %w", name, cause)
		default:
			return fmt.Errorf("%s: %w (and %d more of %d)", name, cause, fails-1, len(s.calls))
		}
	}

	isSkipped := func(c call) bool { return !c.made }
	if ctx.Err() != nil && slices.ContainsFunc(s.calls, isSkipped) {
		return fmt.Errorf("%s: %w", name, ctx.Err())
	}
	return nil
}
