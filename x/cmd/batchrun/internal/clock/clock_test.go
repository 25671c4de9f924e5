package clock

import (
	"testing"
	"time"
)

func at(minutes float64) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(minutes * float64(time.Minute)))
}

// A folder that has only used the machine's speed shows the machine's time.
func TestReal(t *testing.T) {
	c := New(nil)
	if _, virtual := c.Start(at(5), at(4), 1); virtual || !c.IsReal() {
		t.Error("the clock is not the machine's")
	}
	if got := c.At(at(3)); !got.Equal(at(3)) {
		t.Error(got)
	}
	if got := c.Until(time.Now().Add(time.Hour)); got < 59*time.Minute || got > time.Hour {
		t.Error(got)
	}
}

// Three runners, one after the other: the first at 60 times the speed of the machine, the second from
// the last stored time of the first, and the third long after.
func TestSpans(t *testing.T) {
	c := New(nil)
	c.Start(at(0), time.Time{}, 60)
	c.Start(at(2), at(100), 1)  // killed after 100 of 120 minutes were seen
	c.Start(at(500), at(90), 2) // the machine has caught up
	for _, test := range []struct{ real, want float64 }{
		{-5, -5},       // before all of this
		{0, 0},         // the first begins
		{1, 60},        // an hour in a minute
		{1.9, 100},     // the last stored time of the first
		{2, 100},       // the second continues from there
		{12, 110},      // at the machine's pace
		{490, 500},     // up to where the third begins
		{500, 500},     // which has the machine's time
		{501.5, 503},   // and twice its pace
		{1e6, 1999500}, // a long time later
		{1e8, end.Sub(at(0)).Minutes()},
	} {
		if got := c.At(at(test.real)); !got.Equal(at(test.want)) {
			t.Errorf("at minute %v: want minute %v, have %v", test.real, test.want, got.Sub(at(0)).Minutes())
		}
	}
	if !c.At(time.Time{}).IsZero() {
		t.Error("no time has become one")
	}
}

func TestNeverBack(t *testing.T) {
	c := New(nil)
	seen := time.Now().Add(time.Hour)
	if s, virtual := c.Start(time.Now(), seen, 1); !virtual || !s.Virtual.Equal(seen) || c.Now().Before(seen) {
		t.Errorf("%+v, now %v", s, c.Now())
	}
}

func TestUntil(t *testing.T) {
	c := New(nil)
	c.Start(time.Now(), time.Time{}, 3600)
	if got := c.Until(c.Now().Add(time.Hour)); got < 900*time.Millisecond || got > time.Second {
		t.Error(got)
	}
	if got := c.Until(c.Now().Add(-time.Hour)); got != 0 {
		t.Error(got)
	}
	c = New(nil)
	c.Start(time.Now(), time.Time{}, 0.5)
	if got := c.Until(time.Now().AddDate(290, 0, 0)); got < 1<<62 {
		t.Error(got)
	}
}
