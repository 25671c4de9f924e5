package explore

import (
	"slices"
	"testing"
)

// Packed states come back as they were, whatever was packed before, and take less room.
func TestPackedStatesComeBack(t *testing.T) {
	p := newPacker[jug]()
	buffer := make([]jug, chunk)
	for _, n := range []int{chunk, 1, 7, chunk} {
		states := make([]jug, n)
		for i := range states {
			states[i] = jug{small: i, large: -i, rounds: n}
		}
		data := p.pack(states)
		if got := p.unpack(data, buffer, n); !slices.Equal(got, states) {
			t.Fatalf("%d states: got %v", n, got)
		}
		if raw := len(bytesOf(states)); n == chunk && len(data) > raw/4 {
			t.Errorf("%d bytes of %d", len(data), raw)
		}
	}
}
