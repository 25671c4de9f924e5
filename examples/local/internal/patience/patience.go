// Package patience tells what may pass by itself, such as a full disk, and says how
// long to put up with it.
package patience

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/batchplan/batchplan/backoff"
)

// transient are errors of the system that can be gone the next time.
var transient = []error{
	syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM, syscall.EIO, syscall.EINTR,
}

// The same as SQLite names them in the low byte of its codes: busy, locked, out of
// memory, input or output, full, cannot open.
var transientCodes = []int{5, 6, 7, 10, 13, 14}

// IsTransient reports whether trying again later may help.
func IsTransient(err error) bool {
	for _, t := range transient {
		if errors.Is(err, t) {
			return true
		}
	}
	var coded interface{ Code() int } // what errors of the database have
	if errors.As(err, &coded) {
		for _, code := range transientCodes {
			if coded.Code()&0xff == code {
				return true
			}
		}
	}
	return false
}

// policy is the one for failed writes, with a shorter longest delay: work goes on soon
// after there is room again.
var policy = backoff.Policy{Base: backoff.Retry().Base, Factor: backoff.Retry().Factor, Max: 5 * time.Second}

// Patience is with one loop: how often it has failed in a row, and since when. The
// zero value gives up at once.
type Patience struct {
	// Limit is for how long failures are put up with.
	Limit time.Duration

	failures int
	since    time.Time
}

// Failed takes note of a failure, and returns how long to wait before trying again.
// The error is a *GaveUp, which holds the failure, once it has lasted too long, and
// the failure itself if waiting cannot help.
func (p *Patience) Failed(err error, now time.Time) (time.Duration, error) {
	if !IsTransient(err) {
		return 0, err
	}
	if p.failures == 0 {
		p.since = now
	}
	p.failures++
	lasted := now.Sub(p.since)
	if lasted >= p.Limit {
		return 0, &GaveUp{Err: err, Lasted: lasted}
	}
	return min(policy.Delay(p.failures), p.Limit-lasted), nil
}

// Try takes note of how a pass of a loop ended. It returns how long to wait before the
// next one, after having told why, or the error with which the loop has to end.
func (p *Patience) Try(err error, now time.Time, tell func(string)) (time.Duration, error) {
	if err == nil {
		p.Worked()
		return 0, nil
	}
	delay, fatal := p.Failed(err, now)
	if fatal == nil {
		tell(fmt.Sprintf("%v; trying again in %v", err, delay.Round(time.Millisecond)))
	}
	return delay, fatal
}

// Worked takes note of a success.
func (p *Patience) Worked() { p.failures = 0 }

// GaveUp is the error of who has waited in vain.
type GaveUp struct {
	Err    error
	Lasted time.Duration
}

// Error names what went wrong at last, and for how long it was tried.
func (g *GaveUp) Error() string {
	return fmt.Sprintf("%v; gave up after %v", g.Err, g.Lasted.Round(time.Second))
}

// Unwrap returns what went wrong at last.
func (g *GaveUp) Unwrap() error { return g.Err }
