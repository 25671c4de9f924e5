package job

import "testing"

// TestJ30_HeldByTerminating: where only failed pods are replaced, each terminating pod
// holds one of the missing ones.
func TestJ30_HeldByTerminating(t *testing.T) {
	const (
		failed = `{"podReplacementPolicy": "Failed"}`
		policy = `{"podFailurePolicy": {"rules": []}, "podReplacementPolicy": "TerminatingOrFailed"}`
		either = `{"podReplacementPolicy": "TerminatingOrFailed"}`
	)
	for _, c := range []struct {
		spec                       string
		missing, terminating, want int64
	}{
		{failed, 3, 2, 2},
		{failed, 2, 3, 2},
		{failed, 0, 3, 0},
		{failed, -1, 3, 0},
		{policy, 3, 2, 2},
		{either, 3, 2, 0},
	} {
		spec := specOf(t, c.spec)
		if got := heldByTerminating(&spec, tally{terminating: c.terminating}, c.missing); got != c.want {
			t.Errorf("%s, %d missing, %d terminating: %d held, want %d", c.spec, c.missing, c.terminating, got, c.want)
		}
	}
}
