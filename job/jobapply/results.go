package jobapply

import (
	"errors"

	"github.com/batchplan/batchplan/internal/step"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobreason"
)

// each calls do(0) to do(n-1), at most Parallel concurrently, and returns when all calls have
// returned. Once the context is cancelled, no further call starts.
func (r *round) each(n int, do func(i int)) { step.Each(r.ctx, r.Parallel, n, do) }

// results collects the results of a step's writes from many goroutines.
type results struct{ *step.Step[job.Effect] }

func newResults(n int) results { return results{step.New[job.Effect](n)} }

func (s results) len() int { return len(s.Effects) }

func (s results) set(i int, err error) { s.setCreated(i, job.PodRef{}, err) }

func (s results) setCreated(i int, pod job.PodRef, err error) {
	switch {
	case err == nil:
		s.Set(i, job.Effect{Result: jobreason.ResultDone, Pod: pod}, nil)
	case errors.Is(err, ErrGone):
		s.Set(i, job.Effect{Result: jobreason.ResultGone}, nil)
	case errors.Is(err, ErrNamespaceTerminating):
		s.Set(i, job.Effect{Result: jobreason.ResultRefused, Error: err.Error()}, nil)
	case errors.Is(err, ErrStillTracked):
		s.Set(i, job.Effect{Result: jobreason.ResultStillTracked, Error: err.Error()}, err)
	default:
		s.Set(i, job.Effect{Result: jobreason.ResultUnsuccessful, Error: err.Error()}, err)
	}
}

// refuseRest marks the writes that were not tried as refused.
func (s results) refuseRest() { s.Rest(job.Effect{Result: jobreason.ResultRefused}) }

func (s results) count(want jobreason.Result) (n int) {
	for i := range s.Effects {
		if s.Effects[i].Result == want {
			n++
		}
	}
	return n
}

// all combines the results into one: the first failure, if any. Otherwise it is ResultNotTried if
// any write was not tried, ResultGone if any object was gone, or else ResultDone.
func (s results) all() job.Reply {
	for i := range s.Effects {
		switch s.Effects[i].Result {
		case jobreason.ResultUnsuccessful, jobreason.ResultStillTracked:
			return job.Reply{Result: jobreason.ResultUnsuccessful, Error: s.Effects[i].Error}
		}
	}
	switch {
	case s.count(jobreason.ResultNotTried) > 0:
		return job.Reply{}
	case s.count(jobreason.ResultGone) > 0:
		return job.Reply{Result: jobreason.ResultGone}
	}
	return job.Reply{Result: jobreason.ResultDone}
}

// replies returns the results of writes that create nothing.
func (s results) replies() []job.Reply {
	out := make([]job.Reply, len(s.Effects))
	for i, effect := range s.Effects {
		out[i] = job.Reply{Result: effect.Result, Error: effect.Error}
	}
	return out
}
