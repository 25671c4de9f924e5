package jobapply

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/batchplan/batchplan/job"
)

// each calls do(0) to do(n-1), at most Parallel at once, and returns when all
// calls have. A cancelled context starts no further call.
func (r *round) each(n int, do func(i int)) {
	parallel := r.Parallel
	if parallel <= 0 {
		parallel = DefaultParallel
	}
	if parallel = min(parallel, n); parallel <= 1 {
		for i := 0; i < n && r.ctx.Err() == nil; i++ {
			do(i)
		}
		return
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	slots := make(chan struct{}, parallel)
	for i := range n {
		select {
		case slots <- struct{}{}:
		case <-r.ctx.Done():
			return
		}
		if r.ctx.Err() != nil {
			return
		}
		wg.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
}

// results collects what became of a step's writes, from many goroutines.
type results struct {
	mu    sync.Mutex
	list  []job.Effect
	first error
	fails int
}

func newResults(n int) *results { return &results{list: make([]job.Effect, n)} }

func (s *results) len() int { return len(s.list) }

func (s *results) set(i int, err error) { s.setCreated(i, job.PodRef{}, err) }

func (s *results) setCreated(i int, pod job.PodRef, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	effect := job.Effect{Result: job.Done, Pod: pod}
	switch {
	case err == nil:
	case errors.Is(err, ErrGone):
		effect = job.Effect{Result: job.Gone}
	case errors.Is(err, ErrNamespaceTerminating):
		effect = job.Effect{Result: job.Refused, Error: err.Error()}
	default:
		effect = job.Effect{Result: job.Unsuccessful, Error: err.Error()}
		if errors.Is(err, ErrStillTracked) {
			effect.Result = job.StillTracked
		}
		s.fails++
		if s.first == nil {
			s.first = err
		}
	}
	s.list[i] = effect
}

// refuseRest marks what was not tried as refused.
func (s *results) refuseRest() {
	for i := range s.list {
		if s.list[i].Result == job.NotTried {
			s.list[i].Result = job.Refused
		}
	}
}

func (s *results) count(want job.Result) (n int) {
	for i := range s.list {
		if s.list[i].Result == want {
			n++
		}
	}
	return n
}

// all is the result of the writes taken together.
func (s *results) all() job.Result {
	switch {
	case s.fails > 0:
		return job.Unsuccessful
	case s.count(job.NotTried) > 0:
		return job.NotTried
	case s.count(job.Gone) > 0:
		return job.Gone
	}
	return job.Done
}

func (s *results) effects() []job.Effect { return s.list }

// plain are the results without what else is known; nil if there are none.
func (s *results) plain() (out []job.Result) {
	for i := range s.list {
		out = append(out, s.list[i].Result)
	}
	return out
}

// err is the first error of the step, with the number of further ones.
func (s *results) err(ctx context.Context, step string) error {
	switch {
	case s.fails > 1:
		return fmt.Errorf("%s: %w (and %d more of %d)", step, s.first, s.fails-1, len(s.list))
	case s.fails == 1:
		return fmt.Errorf("%s: %w", step, s.first)
	case ctx.Err() != nil && s.count(job.NotTried) > 0:
		return fmt.Errorf("%s: %w", step, ctx.Err())
	}
	return nil
}
