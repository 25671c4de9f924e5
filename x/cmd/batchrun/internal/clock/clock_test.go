package clock

import (
	"math"
	"testing"
	"testing/synctest"
	"time"
)

func at(minutes float64) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(minutes * float64(time.Minute)))
}

// If a state folder has only used the machine's speed, its clock shows the machine's time.
func TestReal(t *testing.T) {
	c := New(nil)
	if s, virtual := c.Start(at(5), at(4), 1); virtual || !c.IsReal() || !s.Virtual.Equal(at(5)) {
		t.Errorf("the clock is not the machine's: %+v", s)
	}
	if got := c.At(at(3)); !got.Equal(at(3)) {
		t.Error(got)
	}
	if got := c.Until(time.Now().Add(time.Hour)); got < 59*time.Minute || got > time.Hour {
		t.Error(got)
	}
}

// Three runners run one after the other. The first runs at 60 times the speed of the machine. The
// second continues from the last stored time of the first. The third starts long after the second
// has ended.
func TestSpans(t *testing.T) {
	c := New(nil)
	c.Start(at(0), time.Time{}, 60)
	c.Start(at(2), at(100), 1)  // killed after 100 of 120 minutes were seen
	c.Start(at(500), at(90), 2) // the machine has caught up
	for _, test := range []struct{ real, want float64 }{
		{-5, -5},       // before the first runner
		{0, 0},         // the first begins
		{1, 60},        // an hour in a minute
		{1.9, 100},     // the last stored time of the first
		{2, 100},       // the second continues from there
		{12, 110},      // at the machine's pace
		{490, 500},     // until the third begins
		{500, 500},     // the third shows the machine's time
		{501.5, 503},   // at twice the machine's pace
		{1e6, 1999500}, // a long time later
		{1e8, time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC).Sub(at(0)).Minutes()},
	} {
		if got := c.At(at(test.real)); !got.Equal(at(test.want)) {
			t.Errorf("at minute %v: want minute %v, have %v", test.real, test.want, got.Sub(at(0)).Minutes())
		}
	}
	if !c.At(time.Time{}).IsZero() {
		t.Error("no time has become one")
	}
}

// TestNew: a clock continues with the spans of earlier runners, which stay as they are.
func TestNew(t *testing.T) {
	spans := []Span{{Real: at(0), Virtual: at(60), Speed: 2}, {Real: at(0), Virtual: at(60), Speed: 3}}
	c := New(spans[:1])
	for real, want := range map[float64]float64{0: 60, 1: 62} {
		if got := c.At(at(real)); !got.Equal(at(want)) {
			t.Errorf("at minute %v: %v", real, got)
		}
	}
	if s, virtual := c.Start(at(500), at(90), 1); !virtual || !s.Virtual.Equal(at(500)) {
		t.Errorf("the clock shows the machine's time, and has a past: %+v, %v", s, virtual)
	}
	if spans[1].Speed != 3 {
		t.Error("the caller's list was written to")
	}
}

func TestNeverBack(t *testing.T) {
	c := New(nil)
	seen := time.Now().Add(time.Hour)
	if s, virtual := c.Start(time.Now(), seen, 1); !virtual || !s.Virtual.Equal(seen) || c.Now().Before(seen) {
		t.Errorf("%+v, now %v", s, c.Now())
	}
}

// TestUntil: Until returns the duration from now until a time, as the machine's clock measures it.
// For a past time the duration is 0.
func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			speed       float64
			after, want time.Duration
		}{
			{1, time.Hour, time.Hour},
			{1, 0, 0},
			{1, -time.Hour, 0},
			{3600, time.Hour, time.Second},
			{3600, time.Nanosecond, time.Nanosecond}, // the wait ends after the time, and not before it
			{3600, -time.Hour, 0},
			{0.5, time.Hour, 2 * time.Hour},
			{0.5, math.MaxInt64, math.MaxInt64},
		} {
			c := New(nil)
			begin := time.Now()
			c.Start(begin, time.Time{}, test.speed)
			time.Sleep(time.Minute)
			if past := c.Now().Sub(begin); past != time.Duration(test.speed*float64(time.Minute)) {
				t.Errorf("speed %v: a minute takes %v", test.speed, past)
			}
			if got := c.Until(c.Now().Add(test.after)); got != test.want {
				t.Errorf("speed %v, after %v: %v, want %v", test.speed, test.after, got, test.want)
			}
		}
	})
}

// TestScale: a part of a nanosecond counts as a whole one, and no result exceeds the largest
// duration.
func TestScale(t *testing.T) {
	for _, test := range []struct {
		d    time.Duration
		by   float64
		want time.Duration
	}{
		{0, 5, 0}, {3, 0.5, 2}, {1 << 62, 1, 1 << 62}, {1 << 62, 2, math.MaxInt64}, {math.MaxInt64, 1, math.MaxInt64}, {math.MaxInt64, 60, math.MaxInt64},
	} {
		if got := scale(test.d, test.by); got != test.want {
			t.Errorf("%d times %v: %d, want %d", test.d, test.by, got, test.want)
		}
	}
}
