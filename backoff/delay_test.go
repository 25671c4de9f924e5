package backoff_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"pgregory.net/rapid"
)

func TestJ31_DelayOfPods(t *testing.T) {
	var p backoff.Policy
	for failures, want := range map[int]time.Duration{
		math.MinInt: 0, -1: 0, 0: 0,
		1: 10 * time.Second, 2: 20 * time.Second, 3: 40 * time.Second, 4: 80 * time.Second,
		5: 160 * time.Second, 6: 320 * time.Second, 7: 10 * time.Minute, 8: 10 * time.Minute,
		63: 10 * time.Minute, 64: 10 * time.Minute, 1 << 20: 10 * time.Minute, math.MaxInt: 10 * time.Minute,
	} {
		if got := p.Delay(failures); got != want {
			t.Errorf("after %d failures: %v, want %v", failures, got, want)
		}
	}
}

func TestJ43_DelayOfWrites(t *testing.T) {
	for failures, want := range map[int]time.Duration{
		0: 0, 1: time.Second, 2: 2 * time.Second, 6: 32 * time.Second, 7: time.Minute, math.MaxInt: time.Minute,
	} {
		if got := backoff.Retry().Delay(failures); got != want {
			t.Errorf("after %d failures: %v, want %v", failures, got, want)
		}
	}
}

func TestJ31_DelayAtTheEdges(t *testing.T) {
	const longest = time.Duration(math.MaxInt64)

	for _, c := range []struct {
		name     string
		policy   backoff.Policy
		failures int
		want     time.Duration
	}{
		{"a factor of one is constant", backoff.Policy{Base: time.Second, Factor: 1}, math.MaxInt, time.Second},
		{"a factor of three", backoff.Policy{Base: time.Second, Factor: 3}, 4, 27 * time.Second},
		{"the maximum is met exactly", backoff.Policy{Base: time.Second, Max: 8 * time.Second}, 4, 8 * time.Second},
		{"the maximum lies between two delays", backoff.Policy{Base: time.Second, Max: 7 * time.Second}, 4, 7 * time.Second},
		{"just below the maximum", backoff.Policy{Base: 3, Max: 7}, 2, 6},
		{"one nanosecond and the longest maximum", backoff.Policy{Base: 1, Max: longest}, 63, 1 << 62},
		{"no overflow after it", backoff.Policy{Base: 1, Max: longest}, 64, longest},
		{"the largest factor", backoff.Policy{Base: 2, Factor: math.MaxInt, Max: longest}, 3, longest},
		{"a base over the default maximum", backoff.Policy{Base: time.Hour}, 3, time.Hour},
		{"a maximum below the default base", backoff.Policy{Max: 5 * time.Second}, 3, 5 * time.Second},
		{"a maximum over the default base", backoff.Policy{Max: time.Hour}, 1, backoff.DefaultBase},
		{"the shortest base", backoff.Policy{Base: 1}, 1, 1},
		{"the shortest maximum", backoff.Policy{Max: 1}, 1, 1},
		{"a base over the maximum, which Validate refuses", backoff.Policy{Base: time.Hour, Max: time.Minute}, 1, time.Minute},
		{"negative fields are defaults", backoff.Policy{Base: -1, Factor: -1, Max: -1}, 2, 20 * time.Second},
	} {
		if got := c.policy.Delay(c.failures); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestJ31_Validate(t *testing.T) {
	for _, c := range []struct {
		policy backoff.Policy
		want   string
	}{
		{backoff.Policy{}, ""},
		{backoff.Retry(), ""},
		{backoff.Policy{Base: time.Minute, Factor: 1, Max: time.Minute}, ""},
		{backoff.Policy{Base: -time.Second}, "base: -1s: must not be negative"},
		{backoff.Policy{Factor: -2}, "factor: -2: must not be negative"},
		{backoff.Policy{Max: -time.Minute}, "max: -1m0s: must not be negative"},
		{backoff.Policy{Base: -1, Factor: -1, Max: -1},
			"base: -1ns: must not be negative\nfactor: -1: must not be negative\nmax: -1ns: must not be negative"},
		{backoff.Policy{Base: -1, Max: 1}, "base: -1ns: must not be negative"},
		{backoff.Policy{Base: 2, Max: 1}, "max: 1ns: is shorter than the base, 2ns"},
		{backoff.Policy{Base: 2, Max: 2}, ""},
		{backoff.Policy{Base: time.Minute, Max: time.Second}, "max: 1s: is shorter than the base, 1m0s"},
		{backoff.Policy{Base: time.Hour}, ""},
		{backoff.Policy{Max: 5 * time.Second}, ""},
	} {
		got := ""
		if err := c.policy.Validate(); err != nil {
			got = err.Error()

			var first *backoff.InputError
			if !errors.As(err, &first) || !strings.HasPrefix(got, first.Field+": "+first.Value+": "+first.Problem) {
				t.Errorf("%+v: the first is %+v of %q", c.policy, first, got)
			}
		}
		if got != c.want {
			t.Errorf("%+v: got %q, want %q", c.policy, got, c.want)
		}
	}
}

// TestJ31_DelayAgainstFloats compares Delay with the formula, and checks that more failures never
// mean a shorter wait.
func TestJ31_DelayAgainstFloats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := backoff.Policy{
			Base:   time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "base")),
			Factor: rapid.IntRange(1, 10).Draw(t, "factor"),
			Max:    time.Duration(rapid.Int64Range(1, int64(1000*time.Hour)).Draw(t, "max")),
		}
		n := rapid.IntRange(1, 100).Draw(t, "failures")
		want := math.Min(float64(p.Base)*math.Pow(float64(p.Factor), float64(n-1)), float64(p.Max))
		got := p.Delay(n)
		// Every product up to the maximum is below 2^53, so floats are exact.
		if float64(got) != want {
			t.Fatalf("%+v after %d failures: %v, want %v", p, n, got, time.Duration(want))
		}
		if next := p.Delay(n + 1); next < got {
			t.Fatalf("%+v after %d failures: %v, after one more %v", p, n, got, next)
		}
	})
}
