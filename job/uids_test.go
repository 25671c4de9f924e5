package job

import (
	"fmt"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// collidingUID returns the n-th of many UIDs that all belong into the first slot of a table. It
// goes backwards through the steps of hash. The last step combines the two halves of a number. Here
// they are equal, so the lower half of the hash is 0.
func collidingUID(n uint32) UID {
	const k = 0x9e3779b97f4a7c15
	inverse := uint64(k) // of k, modulo 2^64: each step doubles the bits that are right
	for range 6 {
		inverse *= 2 - k*inverse
	}
	h := uint64(n)<<32 | uint64(n)
	w := bits.RotateLeft64(h*inverse, -29) ^ 8*uint64(k&(1<<61-1))
	uid := make([]byte, 8)
	for i := range uid {
		uid[i] = byte(w >> (8 * i))
	}
	return UID(uid)
}

// TestB5_UIDTable compares the table with a map, for ordinary UIDs and for UIDs that collide by
// design.
func TestB5_UIDTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		crafted := rapid.Bool().Draw(t, "crafted")
		uids := rapid.SliceOfN(rapid.Uint32Range(1, 500), 0, 800).Draw(t, "uids")
		uid := func(n uint32) UID {
			if crafted {
				return collidingUID(n)
			}
			return UID(fmt.Sprint("pod-", n))
		}

		var table uidTable
		for range 2 { // the table is reused
			want := map[UID]uidFacts{}
			table.reset(len(uids))
			for i, n := range uids {
				facts := uidFacts(1) << (i % 4)
				if got := table.add(uid(n), facts); got != want[uid(n)] {
					t.Fatalf("add(%q) = %b, want %b", uid(n), got, want[uid(n)])
				}
				want[uid(n)] |= facts
			}

			for n := range uint32(600) {
				if got := table.facts(uid(n)); got != want[uid(n)] {
					t.Fatalf("facts(%q) = %b, want %b", uid(n), got, want[uid(n)])
				}
			}
			if table.len() != len(want) {
				t.Fatalf("%d UIDs, want %d", table.len(), len(want))
			}
		}
	})
}

// TestB5_CollidingUIDs shows that UIDs made to collide end up in the map, and
// that ordinary ones never do.
func TestB5_CollidingUIDs(t *testing.T) {
	var table uidTable
	table.reset(1000)
	for n := range uint32(1000) {
		if h := hash(collidingUID(n)) & 0xfffff; h != 0 {
			t.Fatalf("UID %d wants slot %d: it does not collide", n, h)
		}
		table.add(collidingUID(n), uidSeen)
	}
	if table.crowded == nil {
		t.Error("1000 UIDs of one slot are probed one by one")
	}
	table.reset(100_000)
	for n := range 100_000 {
		table.add(UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(n)*2654435761, n)), uidSeen)
	}
	if table.crowded != nil {
		t.Error("ordinary UIDs count as colliding")
	}
}

// TestB5_CrowdedTable fills a table with colliding UIDs. It forgets none of them, and has no facts
// about a UID that was not added, even after a map has replaced the slots.
func TestB5_CrowdedTable(t *testing.T) {
	var table uidTable
	table.reset(1000)
	for n := range uint32(2 * maxProbe) {
		if got := table.facts(collidingUID(n)); got != 0 {
			t.Fatalf("UID %d is not there and has facts %b", n, got)
		}
		table.add(collidingUID(n), uidSeen)
	}
	if got := table.len(); got != 2*maxProbe {
		t.Errorf("%d UIDs, want %d", got, 2*maxProbe)
	}
	for n := range uint32(2 * maxProbe) {
		if got := table.add(collidingUID(n), uidFailed); got != uidSeen {
			t.Fatalf("UID %d had facts %b", n, got)
		}
		if got := table.facts(collidingUID(n)); got != uidSeen|uidFailed {
			t.Fatalf("UID %d has facts %b", n, got)
		}
	}
}
