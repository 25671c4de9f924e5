// Package clock is the clock of the planners. It is the machine's clock, or a faster one with which
// a user can watch a schedule.
package clock

import (
	"math"
	"slices"
	"time"
)

// Span is a period in which the clock has one speed. When the machine's clock shows Real, this
// clock shows Virtual. From then on it runs Speed times as fast as the machine's clock.
type Span struct {
	Real    time.Time
	Virtual time.Time
	Speed   float64
}

// Clock translates the machine's time. The zero Clock changes nothing.
type Clock struct {
	// spans has the spans of the state folder's runners, oldest first, from the first runner with a
	// virtual clock on. Old spans translate the times that processes recorded under old runners.
	spans []Span
}

// New returns a clock with the given spans, the oldest first.
func New(spans []Span) *Clock { return &Clock{spans: slices.Clone(spans)} }

// Start begins a span at the machine's time real, and returns the span. At its beginning, the clock
// shows the later of real and seen, because the clock never goes back. Start returns false if no
// span is needed, since the clock can show the machine's time.
func (c *Clock) Start(real, seen time.Time, speed float64) (Span, bool) {
	s := Span{Real: real, Virtual: real, Speed: speed}
	if seen.After(real) {
		s.Virtual = seen
	}
	if len(c.spans) == 0 && speed == 1 && s.Virtual.Equal(real) {
		return s, false
	}
	c.spans = append(c.spans, s)
	return s, true
}

// IsReal reports whether the clock shows the machine's time.
func (c *Clock) IsReal() bool { return len(c.spans) == 0 }

// Now returns the current time.
func (c *Clock) Now() time.Time { return c.At(time.Now()) }

// At translates a time of the machine. Between two spans no runner runs, and the clock stands
// still.
func (c *Clock) At(real time.Time) time.Time {
	i := len(c.spans) - 1
	for i >= 0 && real.Before(c.spans[i].Real) {
		i--
	}
	if i < 0 {
		return real
	}
	t := c.spans[i].at(real)
	if t.After(end) {
		t = end
	}
	if i+1 < len(c.spans) && t.After(c.spans[i+1].Virtual) {
		return c.spans[i+1].Virtual
	}
	return t
}

// end is the time at which the clock stops, close to the largest number of nanoseconds since 1970.
var end = time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC)

func (s *Span) at(real time.Time) time.Time {
	return s.Virtual.Add(scale(real.Sub(s.Real), s.Speed)).UTC()
}

// Until returns how long the machine's clock runs until this clock shows t. It returns 0 for a past
// t.
func (c *Clock) Until(t time.Time) time.Duration {
	d := max(t.Sub(c.Now()), 0)
	if c.IsReal() {
		return d
	}
	return scale(d, 1/c.spans[len(c.spans)-1].Speed)
}

// scale multiplies a duration. If the result is too large, it returns the largest duration.
func scale(d time.Duration, by float64) time.Duration {
	scaled := math.Ceil(float64(d) * by)
	if scaled >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(scaled)
}
