package main

import (
	"strings"
	"testing"
)

// TestStoriesEnd plays each story twice: its job ends, no invariant is violated, both outputs are
// equal.
func TestStoriesEnd(t *testing.T) {
	for _, s := range stories {
		var first, again strings.Builder
		if err := tell(&first, s); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		if err := tell(&again, s); err != nil || again.String() != first.String() {
			t.Errorf("%s differs the second time, error %v", s.name, err)
		}
		if text := first.String(); !strings.Contains(text, "Complete=True") && !strings.Contains(text, "Failed=True") {
			t.Errorf("%s does not end:\n%s", s.name, text)
		}
	}
}
