// Package patience recognises temporary failures, such as a full disk, and decides how
// long to retry.
package patience

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/batchplan/batchplan/backoff"
)

// transient lists errors of the system after which a later attempt may succeed.
var transient = []error{
	syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM, syscall.EIO,
	syscall.EINTR,
}

// transientCodes are SQLite's codes for errors that may pass, in the low byte: busy, locked, out of
// memory, input or output, full, cannot open.
var transientCodes = []int{5, 6, 7, 10, 13, 14}

// IsTransient reports whether trying again later may help.
func IsTransient(err error) bool {
	for _, t := range transient {
		if errors.Is(err, t) {
			return true
		}
	}
	var coded interface{ Code() int } // errors of the database
	if errors.As(err, &coded) {
		for _, code := range transientCodes {
			if coded.Code()&0xff == code {
				return true
			}
		}
	}
	return false
}

// policy is the retry policy for failed writes. Its maximum is lower than that of [backoff.Retry],
// so that work resumes soon after there is room again.
var policy = backoff.Policy{Base: backoff.Retry().Base, Factor: backoff.Retry().Factor, Max: 5 * time.Second}

// Patience is the retry state of one loop: how often it has failed in a row, and
// since when. The zero value gives up immediately.
type Patience struct {
	// Limit is how long failures may last.
	Limit time.Duration

	failures int
	since    time.Time
}

// Failed notes that an attempt has failed, and returns how long to wait before the next attempt. If
// the failure is not temporary, Failed returns the failure itself. Once Limit has passed since the
// first of the failed attempts began, it returns a *GaveUp that wraps the failure.
func (p *Patience) Failed(err error, began, now time.Time) (time.Duration, error) {
	if !IsTransient(err) {
		return 0, err
	}
	if p.failures == 0 {
		p.since = began
	}
	p.failures++
	lasted := now.Sub(p.since)
	if lasted >= p.Limit {
		return 0, &GaveUp{Err: err, Lasted: lasted}
	}
	return min(policy.Delay(p.failures), p.Limit-lasted), nil
}

// Try takes the result of a pass of a loop. After a success it returns 0 and nil. After a temporary
// failure it warns, and returns how long to wait before the next pass. After any other failure it
// returns the error with which the loop must end.
func (p *Patience) Try(err error, began, now time.Time, tell func(string)) (time.Duration, error) {
	if err == nil {
		p.Worked()
		return 0, nil
	}
	delay, fatal := p.Failed(err, began, now)
	if fatal == nil {
		tell(fmt.Sprintf("%v; trying again in %v", err, delay.Round(time.Millisecond)))
	}
	return delay, fatal
}

// Repeat makes passes until the context ends, or until a failure is not temporary or has lasted too
// long. A pass returns how long to rest after it: 0 means until wake receives a value. After a
// failure, wake does not shorten the delay, because an earlier pass would not help.
func (p *Patience) Repeat(
	ctx context.Context, wake <-chan struct{}, tell func(string), pass func() (rest time.Duration, err error),
) error {
	for {
		began := time.Now()
		rest, err := pass()
		delay, err := p.Try(err, began, time.Now(), tell)
		if err != nil {
			return err
		}

		woken := wake
		if delay > 0 {
			woken = nil
		}
		var again <-chan time.Time
		if rest = max(rest, delay); rest > 0 {
			again = time.After(rest)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-woken:
		case <-again:
		}
	}
}

// Worked notes a success.
func (p *Patience) Worked() { p.failures = 0 }

// GaveUp is the error after the last attempt.
type GaveUp struct {
	Err    error
	Lasted time.Duration
}

// Error names the last failure and the time spent on retries.
func (g *GaveUp) Error() string {
	return fmt.Sprintf("%v; gave up after %v", g.Err, g.Lasted.Round(time.Second))
}

// Unwrap returns the last failure.
func (g *GaveUp) Unwrap() error { return g.Err }
