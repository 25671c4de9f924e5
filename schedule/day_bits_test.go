package schedule

import (
	"testing"

	"pgregory.net/rapid"
)

// TestDayBits compares both searches with a walk over the days, above all around
// the ends of the words.
func TestDayBits(t *testing.T) {
	day := rapid.OneOf(rapid.IntRange(1, 366), rapid.SampledFrom([]int{1, 63, 64, 127, 128, 191, 192, 255, 256, 319, 320, 366}))
	rapid.Check(t, func(t *rapid.T) {
		var d dayBits
		var set [367]bool
		for _, n := range rapid.SliceOfN(day, 0, 4).Draw(t, "days") {
			d[n/64] |= 1 << (n % 64)
			set[n] = true
		}
		for at := range set {
			after, before := 0, 0
			for n := range set {
				if set[n] && n >= at && after == 0 {
					after = n
				}
				if set[n] && n <= at {
					before = n
				}
			}
			if got := d.from(at); got != after {
				t.Fatalf("from(%d) = %d, want %d", at, got, after)
			}
			if got := d.upTo(at); got != before {
				t.Fatalf("upTo(%d) = %d, want %d", at, got, before)
			}
		}
	})
}

// TestPeriod: the largest unit that divides a number of seconds.
func TestPeriod(t *testing.T) {
	for seconds, want := range map[int64]string{
		1: "second", 90: "90 seconds", 60: "minute", 5400: "90 minutes",
		3600: "hour", 86400: "24 hours", 3600 * 3600: "3600 hours", 3600*60 + 60: "3601 minutes",
	} {
		if got := period(seconds); got != want {
			t.Errorf("period(%d) = %q, want %q", seconds, got, want)
		}
	}
}
