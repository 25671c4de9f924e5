package schedule

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/must"
)

// TestDayBits compares both searches with a loop over the days, mainly at the ends of the 64-bit
// words.
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

// TestPeriod: the unit is the largest that divides the number of seconds.
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

// TestDateFrom compares dateFrom with searchFrom, for each day of 400 years and of the last
// supported years.
func TestDateFrom(t *testing.T) {
	for _, spec := range []string{
		"0 0 1 * *", "0 0 28 * *", "0 0 29 * *", "0 0 30 * *", "0 0 31 * *", "0 0 1,31 * *", "0 0 27-29 2 *",
		"0 0 29 2 *", "0 0 31 1,3 *", "0 0 1 1 *", "0 0 31 12 *", "0 0 1 3 *", "0 0 * 2 *", "0 0 29 2 6", "0 0 * 4 1",
		"0 0 1-7 6-8 ?", "0 0 30 2,4 *",
	} {
		s, err := Parse(spec)
		must.OK(t, err)
		p := &s.plan.table.pattern
		if p.weekly {
			t.Fatalf("%q does not depend on the date", spec)
		}
		for _, years := range [][2]int{{1, 402}, {9990, 10000}} {
			for day := newYear(years[0]); day < newYear(years[1]); day++ {
				if got, want := p.dateFrom(day), p.searchFrom(day); got != want {
					t.Fatalf("%q: dateFrom(%d) = %d, want %d", spec, day, got, want)
				}
			}
		}
	}
}
