package batchtest

import (
	"time"

	"k8s.io/utils/clock"
)

// fast is a clock that runs faster than the real one.
type fast struct {
	began time.Time
	speed float64
}

func newClock(speed float64) clock.WithTicker {
	if speed == 1 {
		return clock.RealClock{}
	}
	return &fast{began: time.Now(), speed: speed}
}

// Now implements [clock.PassiveClock].
func (c *fast) Now() time.Time {
	return c.began.Add(time.Duration(float64(time.Since(c.began)) * c.speed))
}

// Since implements [clock.PassiveClock].
func (c *fast) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// realOf returns the real time that a duration takes.
func (c *fast) realOf(d time.Duration) time.Duration {
	if d <= 0 {
		return d
	}
	return max(time.Duration(float64(d)/c.speed), 1) // a ticker refuses 0
}

// After implements [clock.Clock].
func (c *fast) After(d time.Duration) <-chan time.Time { return time.After(c.realOf(d)) }

// Sleep implements [clock.Clock].
func (c *fast) Sleep(d time.Duration) { time.Sleep(c.realOf(d)) }

// Tick implements [clock.Clock].
func (c *fast) Tick(d time.Duration) <-chan time.Time { return time.Tick(c.realOf(d)) }

// NewTimer implements [clock.Clock].
func (c *fast) NewTimer(d time.Duration) clock.Timer {
	return &fastTimer{clock.RealClock{}.NewTimer(c.realOf(d)), c}
}

// NewTicker implements [clock.WithTicker].
func (c *fast) NewTicker(d time.Duration) clock.Ticker {
	return clock.RealClock{}.NewTicker(c.realOf(d))
}

// fastTimer is a timer that takes durations of the fast clock.
type fastTimer struct {
	clock.Timer
	clock *fast
}

// Reset implements [clock.Timer].
func (t *fastTimer) Reset(d time.Duration) bool { return t.Timer.Reset(t.clock.realOf(d)) }
