package cronjobapply

import (
	"fmt"
	"sync"

	"github.com/batchplan/batchplan/cronjob"
)

// step is one kind of reads or writes of a round, with what became of each.
type step struct {
	*round
	name    string
	effects []cronjob.Effect
	causes  []error // parallel to effects
}

func (r *round) step(name string, n int) *step {
	return &step{round: r, name: name, effects: make([]cronjob.Effect, n), causes: make([]error, n)}
}

// concurrently calls do for each place, at most Parallel at once, and returns when
// all calls have. A cancelled context starts no further call.
func (s *step) concurrently(do func(i int) (cronjob.Effect, error)) {
	parallel := s.Parallel
	if parallel <= 0 {
		parallel = DefaultParallel
	}
	slots := make(chan struct{}, parallel)
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range s.effects {
		slots <- struct{}{}
		if s.ctx.Err() != nil {
			return
		}
		wg.Go(func() {
			defer func() { <-slots }()
			s.effects[i], s.causes[i] = do(i)
		})
	}
}

// refuse marks what was not tried from a place on.
func (s *step) refuse(from int) {
	for i := from; i < len(s.effects); i++ {
		s.effects[i].Result = cronjob.Refused
	}
}

// effectOf is what became of a read or write, and the error once more if there is
// one: for those that no sentinel explains.
func effectOf(j Job, err error) (cronjob.Effect, error) {
	if err != nil {
		return cronjob.Effect{Result: cronjob.Unsuccessful, Error: err.Error()}, err
	}
	return cronjob.Effect{Result: cronjob.Done, Job: j.Reference, CreationTimestamp: j.CreationTimestamp}, nil
}

// err is the first error of the step, with the number of further ones.
func (s *step) err() error {
	var first error
	fails, untried := 0, 0
	for i, cause := range s.causes {
		if cause != nil {
			if fails++; first == nil {
				first = cause
			}
		}
		if s.effects[i].Result == cronjob.NotTried {
			untried++
		}
	}
	switch {
	case fails > 1:
		return fmt.Errorf("%s: %w (and %d more of %d)", s.name, first, fails-1, len(s.effects))
	case fails == 1:
		return fmt.Errorf("%s: %w", s.name, first)
	case untried > 0: // nothing else leaves one out
		return fmt.Errorf("%s: %w", s.name, s.ctx.Err())
	}
	return nil
}
