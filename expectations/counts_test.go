package expectations_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"pgregory.net/rapid"
)

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestE1_Satisfied(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts expectations.Counts
		after  time.Duration
		want   bool
	}{
		{"nothing recorded", expectations.Counts{}, 0, true},
		{"both at zero", expectations.Counts{At: t0}, 0, true},
		{"both below zero", expectations.Counts{Creations: -2, Deletions: -1, At: t0}, 0, true},
		{"a creation is missing", expectations.Counts{Creations: 1, At: t0}, 0, false},
		{"a deletion is missing", expectations.Counts{Deletions: 1, At: t0}, 0, false},
		{"too many creations do not make up for a deletion", expectations.Counts{Creations: -1, Deletions: 1, At: t0}, 0, false},
		{"just before the timeout", expectations.Counts{Creations: 1, At: t0}, expectations.Timeout - 1, false},
		{"at the timeout", expectations.Counts{Creations: 1, At: t0}, expectations.Timeout, true},
		{"long after the timeout", expectations.Counts{Creations: 1, At: t0}, 24 * time.Hour, true},
		{"the clock went back a second", expectations.Counts{Creations: 1, At: t0}, -time.Second, false},
		{"the clock went back by the timeout", expectations.Counts{Creations: 1, At: t0}, -expectations.Timeout, true},
		{"the clock went back a year", expectations.Counts{Creations: 1, At: t0}, -365 * 24 * time.Hour, true},
		{"recorded without a time", expectations.Counts{Creations: 1}, 0, true},
	} {
		if got := c.counts.Satisfied(t0.Add(c.after)); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestE1_VirtualTimeMayBeginAtZero(t *testing.T) {
	c := expectations.Counts{Creations: 1}
	if c.Satisfied(time.Time{}) {
		t.Error("satisfied at the time it was recorded")
	}
	if !c.Satisfied(c.Expires()) {
		t.Error("not satisfied at its end")
	}
}

func TestE1_ExpiresIsWhenItTimesOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCounts(t)
		if c.Creations <= 0 && c.Deletions <= 0 {
			if !c.Expires().IsZero() {
				t.Fatalf("%+v has nothing to wait for, but expires at %v", c, c.Expires())
			}
			return
		}
		end := c.Expires()
		if !c.Satisfied(end) || c.Satisfied(end.Add(-1)) {
			t.Fatalf("%+v: satisfied at the end %v, a moment before %v", c, c.Satisfied(end), c.Satisfied(end.Add(-1)))
		}
	})
}

func TestE1_NeverHeldBackForLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCounts(t)
		now := t0.Add(time.Duration(rapid.Int64().Draw(t, "clock")))
		if !c.Satisfied(now) && !c.Satisfied(now.Add(2*expectations.Timeout)) {
			t.Fatalf("%+v still holds back two timeouts after %v", c, now)
		}
	})
}

func TestE2_Lower(t *testing.T) {
	for _, c := range []struct {
		name                 string
		from                 expectations.Counts
		creations, deletions int
		want                 expectations.Counts
	}{
		{"one of each", expectations.Counts{Creations: 3, Deletions: 2, At: t0}, 1, 1, expectations.Counts{Creations: 2, Deletions: 1, At: t0}},
		{"the last one", expectations.Counts{Creations: 1, At: t0}, 1, 0, expectations.Counts{}},
		{"more than recorded", expectations.Counts{Creations: 1, Deletions: 5, At: t0}, 9, 0, expectations.Counts{Deletions: 5, At: t0}},
		{"negative numbers take off nothing", expectations.Counts{Creations: 1, At: t0}, -4, math.MinInt, expectations.Counts{Creations: 1, At: t0}},
		{"a debt is forgotten", expectations.Counts{Creations: math.MinInt, Deletions: 2, At: t0}, math.MaxInt, 1, expectations.Counts{Deletions: 1, At: t0}},
		{"nothing recorded", expectations.Counts{}, 1, 1, expectations.Counts{}},
	} {
		if got := c.from.Lower(c.creations, c.deletions); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestE2_OrderOfObservationsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCounts(t)
		draw := func(name string) int { return rapid.IntRange(-2, 5).Draw(t, name) }
		a, b, d, e := draw("a"), draw("b"), draw("d"), draw("e")
		once := c.Lower(max(a, 0)+max(b, 0), max(d, 0)+max(e, 0))
		if x, y := c.Lower(a, d).Lower(b, e), c.Lower(b, e).Lower(a, d); x != y || x != once {
			t.Fatalf("%+v: %+v, %+v and at once %+v", c, x, y, once)
		}
	})
}

func TestB5_CountsRoundTripAsJSON(t *testing.T) {
	for counts, want := range map[expectations.Counts]string{
		{}:                                   `{}`,
		{Creations: 2, Deletions: 1, At: t0}: `{"creations":2,"deletions":1,"at":"2026-03-01T12:00:00Z"}`,
	} {
		text, err := json.Marshal(counts)
		if err != nil || string(text) != want {
			t.Errorf("got %s, %v, want %s", text, err, want)
		}
		var back expectations.Counts
		if err := json.Unmarshal(text, &back); err != nil || back != counts {
			t.Errorf("back came %+v, %v, want %+v", back, err, counts)
		}
	}
}

func drawCounts(t *rapid.T) expectations.Counts {
	return expectations.Counts{
		Creations: rapid.IntRange(-2, 5).Draw(t, "creations"),
		Deletions: rapid.IntRange(-2, 5).Draw(t, "deletions"),
		At:        t0.Add(time.Duration(rapid.Int64Range(-1e13, 1e13).Draw(t, "at"))),
	}
}
