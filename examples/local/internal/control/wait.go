package control

import (
	"context"
	"math"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/examples/local/internal/clock"
	"github.com/batchplan/batchplan/examples/local/internal/patience"
	"github.com/batchplan/batchplan/examples/local/internal/store"
)

// waiter lets a loop wait for its next round.
type waiter struct {
	// Warn is told what goes wrong for now.
	Warn func(text string)
	// Patience is for rounds that fail for want of room. Its zero value has none.
	Patience patience.Patience

	clock    *clock.Clock
	woken    chan struct{}
	failures int
}

// endure takes note of how a round ended, and waits after a failure that may pass by
// itself. It returns true after such a failure, and the error with which the loop has to
// end after another.
func (w *waiter) endure(ctx context.Context, failure error) (failed bool, err error) {
	delay, err := w.Patience.Try(failure, time.Now(), w.Warn)
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

// Wake asks for a round soon.
func (w *waiter) Wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// LongestNap is how long anybody waits without looking at the clock: a machine that
// sleeps stops its timers, not the time.
const LongestNap = time.Minute

// wait returns when the next round is due: something has changed, the plan's time
// has come, or a failed write is to be repeated. Repetitions are for the disk, so
// they go by the machine's clock.
func (w *waiter) wait(ctx context.Context, at time.Time, retry bool) {
	var again time.Time
	if w.failures++; retry {
		again = time.Now().Add(backoff.Retry().Delay(w.failures))
	} else {
		w.failures = 0
	}
	for left := w.left(at, again); left > 0; left = w.left(at, again) {
		timer := time.NewTimer(min(left, LongestNap))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-w.woken:
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// left is how long to wait, where the zero Time never comes.
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

// Now is the time of a round, which the store knows before anything that is
// written with it.
func Now(s *store.Store, c *clock.Clock) (time.Time, error) {
	now := c.Now()
	if c.IsReal() {
		return now, nil
	}
	return now, s.Saw(now)
}
