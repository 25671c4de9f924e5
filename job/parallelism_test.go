package job

import "testing"

// TestJ29_WantedActive: at most parallelism pods are wanted, and at most as many as successes are
// missing. A work queue starts no more pods after a success.
func TestJ29_WantedActive(t *testing.T) {
	for _, c := range []struct {
		spec              string
		active, succeeded int64
		want              int64
	}{
		{`{"parallelism": 3, "completions": 10}`, 1, 2, 3},
		{`{"parallelism": 3, "completions": 10}`, 1, 8, 2},
		{`{"parallelism": 3, "completions": 10}`, 1, 12, 0},
		{`{"parallelism": 0, "completions": 10}`, 1, 2, 0},
		{`{"parallelism": 3}`, 1, 0, 3},
		{`{"parallelism": 3}`, 1, 1, 1},
		{`{"parallelism": 3}`, 5, 1, 5},
	} {
		spec := specOf(t, c.spec)
		if got := wantedActive(&spec, tally{active: c.active, succeeded: c.succeeded}); got != c.want {
			t.Errorf("%s, %d active, %d succeeded: %d, want %d", c.spec, c.active, c.succeeded, got, c.want)
		}
	}
}
