package job

import "math/bits"

// uidFacts is a set of known facts about a UID.
type uidFacts uint8

const (
	// uidSucceeded and uidFailed: the UID is in the uncounted list of that name.
	uidSucceeded uidFacts = 1 << iota
	uidFailed
	// uidUntracking: the pod's finalizer was removed in an earlier round (E4).
	uidUntracking
	// uidHandled: the podFailurePolicy ignores the pod, and the match was reported (JI27).
	uidHandled
	// uidSeen: a pod of the snapshot still carries the finalizer.
	uidSeen
	// uidRecorded: the UID is in one of the uncounted lists.
	uidRecorded = uidSucceeded | uidFailed
)

// uidTable maps UIDs to the known facts about them. It is a hash table with linear probing that
// reuses its memory. A Go map would cost several times as much, since every pod is looked up.
type uidTable struct {
	slots []uidSlot
	used  int
	// crowded replaces the slots once some UIDs collide more than chance explains.
	// UIDs can come from outside, so they can be made to collide.
	crowded map[UID]uidFacts
}

type uidSlot struct {
	uid   UID // empty in a free slot
	facts uidFacts
}

// maxProbe is the most slots looked at for one UID. With a million random UIDs in a table that is
// half full, the longest search takes about 70.
const maxProbe = 128

func (t *uidTable) len() int { return t.used }

// reset empties the table and makes room for n UIDs. It clears only the memory that n UIDs need. So
// a small job does not cost more because a large job came before it.
func (t *uidTable) reset(n int) {
	t.used, t.crowded = 0, nil
	t.slots = emptied(t.slots, n)
}

// emptied returns empty slots for n UIDs. Their number is a power of two and at least 2n.
func emptied[S any](slots []S, n int) []S {
	if n == 0 {
		return slots[:0]
	}
	size := 1 << bits.Len(uint(2*n-1))
	if cap(slots) < size {
		return make([]S, size)
	}
	slots = slots[:size]
	clear(slots)
	return slots
}

// facts returns the known facts about the UID, none if it is not in the table.
func (t *uidTable) facts(uid UID) uidFacts {
	switch {
	case t.used == 0:
		return 0
	case t.crowded != nil:
		return t.crowded[uid]
	}
	if slot := t.probe(uid); slot != nil {
		return slot.facts
	}
	return 0
}

// add adds facts about the UID and returns the earlier ones. The table must have room, and the UID
// must not be empty.
func (t *uidTable) add(uid UID, facts uidFacts) (earlier uidFacts) {
	slot := t.find(uid)
	if slot == nil {
		earlier, found := t.crowded[uid]
		if !found {
			t.used++
		}
		t.crowded[uid] = earlier | facts
		return earlier
	}

	earlier = slot.facts
	if slot.uid == "" {
		slot.uid = uid
		t.used++
	}
	slot.facts |= facts
	return earlier
}

// see marks a known UID if its pod carries the finalizer. facts are the known facts about that UID.
func (t *uidTable) see(pod *Pod, facts uidFacts) {
	if facts != 0 && carriesFinalizer(pod) {
		t.add(pod.UID, uidSeen)
	}
}

// find returns the slot of the UID, or nil if the UID belongs into the crowded map.
func (t *uidTable) find(uid UID) *uidSlot {
	if t.crowded != nil {
		return nil
	}
	slot := t.probe(uid)
	if slot == nil {
		t.crowd()
	}
	return slot
}

// crowd moves the slots into the map.
func (t *uidTable) crowd() {
	t.crowded = make(map[UID]uidFacts, len(t.slots)/2)
	for i := range t.slots {
		if slot := &t.slots[i]; slot.uid != "" {
			t.crowded[slot.uid] = slot.facts
		}
	}
}

// probe returns the slot that holds the UID or is free for it. It returns nil if the first maxProbe
// slots hold other UIDs.
func (t *uidTable) probe(uid UID) *uidSlot {
	mask := len(t.slots) - 1
	home := int(hash(uid))
	for i := range min(maxProbe, len(t.slots)) {
		if slot := &t.slots[(home+i)&mask]; slot.uid == "" || slot.uid == uid {
			return slot
		}
	}
	return nil
}

// hash mixes the bytes of a UID eight at a time. The last eight may overlap those before.
func hash(uid UID) uint64 {
	const k = 0x9e3779b97f4a7c15
	h := uint64(len(uid)) * k
	if len(uid) < 8 {
		for i := range len(uid) {
			h = (h ^ uint64(uid[i])) * k
		}
		return h ^ h>>32
	}

	last := uid[len(uid)-8:]
	for ; len(uid) > 8; uid = uid[8:] {
		h = bits.RotateLeft64(h^eight(uid), 29) * k
	}
	h = bits.RotateLeft64(h^eight(last), 29) * k
	return h ^ h>>32
}

// eight returns the first eight bytes as a number.
func eight(s UID) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
