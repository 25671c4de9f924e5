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

// A packer would lose what a state points to.
func TestStatesWithPointersAreRefused(t *testing.T) {
	refused := func(pack func()) (refused bool) {
		defer func() { refused = recover() != nil }()
		pack()
		return false
	}

	for name, pack := range map[string]func(){
		"a slice":   func() { newPacker[struct{ s []int }]() },
		"a pointer": func() { newPacker[[2]*int]() },
		"a text":    func() { newPacker[struct{ a struct{ s string } }]() },
	} {
		if !refused(pack) {
			t.Errorf("%s in a state is not refused", name)
		}
	}

	if refused(func() {
		newPacker[struct {
			a [3]uint16
			b bool
		}]()
	}) {
		t.Error("a plain state is refused")
	}
}
