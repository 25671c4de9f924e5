package control

import (
	"context"
	"math"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/patience"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// waiter lets a loop wait for its next round.
type waiter struct {
	// Warn is called with errors that are retried.
	Warn func(text string)
	// Patience limits how long rounds that fail are retried, for example on a full disk. The zero
	// value does not retry.
	Patience patience.Patience

	clock    *clock.Clock
	woken    chan struct{}
	failures int
}

// endure notes the result of a round, and the time at which the round began. After a temporary
// failure, it waits and returns true. After any other failure, it returns the error with which the
// loop must end.
func (w *waiter) endure(ctx context.Context, began time.Time, failure error) (failed bool, err error) {
	delay, err := w.Patience.Try(failure, began, time.Now(), w.Warn)
	if err != nil || failure == nil {
		return false, err
	}
	select {
	case <-ctx.Done():
		return true, ctx.Err()
	case <-time.After(delay):
		return true, nil
	}
}

func newWaiter(c *clock.Clock) waiter {
	return waiter{clock: c, woken: make(chan struct{}, 1)}
}

// Wake requests a round soon.
func (w *waiter) Wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// LongestNap is how long a loop sleeps at most before it reads the clock again. While a machine
// sleeps, its timers stop, but its clock goes on.
const LongestNap = time.Minute

// wait waits until the next round is due: after a change, at the plan's time, or to retry a failed
// write. Retries use the machine's clock.
func (w *waiter) wait(ctx context.Context, at time.Time, retry bool) {
	var again time.Time
	if w.failures++; retry {
		again = time.Now().Add(backoff.Retry().Delay(w.failures))
	} else {
		w.failures = 0
	}
	for left := w.left(at, again); left > 0; left = w.left(at, again) {
		select {
		case <-ctx.Done():
			return
		case <-w.woken:
			return
		case <-time.After(min(left, LongestNap)):
		}
	}
}

// left returns how long to wait until the earlier of two times. The zero Time means never.
func (w *waiter) left(at, again time.Time) time.Duration {
	left := time.Duration(math.MaxInt64)
	if !at.IsZero() {
		left = w.clock.Until(at)
	}
	if !again.IsZero() {
		left = min(left, time.Until(again))
	}
	return left
}

// Now returns the time of a round. It stores this time before any write uses it.
func Now(s *store.Store, c *clock.Clock) (time.Time, error) {
	now := c.Now()
	if c.IsReal() {
		return now, nil
	}
	return now, s.Saw(now)
}
