package backoff

import (
	"math"
	"time"
)

// Record counts the failures since the last success (J31, B2). The zero value means no failure:
// start with it, and use it again after a success. A Record is a value: its methods never change
// it.
type Record struct {
	// Failures is the number of failures, at most 2^31-1. A negative number means
	// none.
	Failures int32 `json:"failures,omitempty"`
	// LastFailure is the time of the latest failure.
	LastFailure time.Time `json:"lastFailure,omitzero"`
}

// Failure returns the record with one more failure, at the given time.
// Failures may be reported in any order: LastFailure only moves forward.
func (r Record) Failure(at time.Time) Record {
	if r.Failures <= 0 {
		return Record{Failures: 1, LastFailure: at}
	}

	if r.Failures < math.MaxInt32 {
		r.Failures++
	}
	if r.LastFailure.Before(at) {
		r.LastFailure = at
	}
	return r
}

// Observe returns the record after a batch of successes and failures, given by their times in any
// order (J31). Any success resets the record. Of the failures in the batch, only those later than
// its latest success count; a failure at the time of that success does not. The slices are only
// read.
func (r Record) Observe(successes, failures []time.Time) Record {
	var success time.Time
	for i, at := range successes {
		if i == 0 || success.Before(at) {
			success = at
		}
	}

	if len(successes) > 0 {
		r = Record{}
	}

	for _, at := range failures {
		if len(successes) == 0 || at.After(success) {
			r = r.Failure(at)
		}
	}
	return r
}

// Due returns when the next attempt may start under p: the delay after the last
// failure. It is zero when there was no failure.
func (r Record) Due(p Policy) time.Time {
	if r.Failures <= 0 {
		return time.Time{}
	}
	return r.LastFailure.Add(p.Delay(int(r.Failures)))
}

// Remaining returns how long after now the next attempt is due under p; 0 when it is already due.
// If the last failure is later than now, because another machine's clock is ahead, the wait is
// longer by the difference.
func (r Record) Remaining(p Policy, now time.Time) time.Duration {
	return max(r.Due(p).Sub(now), 0)
}
