package job

import "fmt"

// checkDuplicates refuses two pods with the same UID. It looks at all pods, so a round calls it
// only if it is going to write something. Without a write, duplicates do no harm.
func checkDuplicates(pods []Pod, places *placeTable) error {
	if i, found := places.firstTwin(pods); found {
		return invalid(podField(&pods[i], "uid"), string(pods[i].UID), "is the UID of two pods")
	}
	return nil
}

// placeTable finds pods with equal UIDs. It is a hash table from UIDs to places of pods. A slot has
// eight bytes, a third of a slot of uidTable, because the table of a large job does not fit into
// the processor's cache. If most pods of a large job have the same places as in the previous
// snapshot, only the others are looked up.
type placeTable struct {
	slots []placeSlot
	// uids are the UIDs in the table, by place. The list is empty if they are not known.
	uids []UID
	// dead counts the slots whose pod has moved or is gone. moved is a buffer.
	dead  int
	moved []int32
}

// placeSlot holds the upper half of a hash and, in its lower half, the place of the pod plus 1.
type placeSlot uint64

const (
	freeSlot placeSlot = 0
	deadSlot placeSlot = 1<<32 - 1
	// upperHalf masks the bits of the hash in a slot.
	upperHalf = 1<<64 - 1<<32
	// largeJob is the least number of pods for which the table is kept between rounds.
	largeJob = 1024
)

// firstTwin returns the place of the first pod with the same UID as an earlier pod.
func (t *placeTable) firstTwin(pods []Pod) (place int, found bool) {
	if len(pods) >= largeJob && t.follow(pods) {
		return 0, false
	}

	t.slots, t.uids, t.dead = emptied(t.slots, len(pods)), t.uids[:0], 0
	for i := range pods {
		switch t.add(pods, i) {
		case twin:
			return i, true
		case crowded:
			return firstTwinOf(pods)
		}
	}

	if len(pods) >= largeJob {
		for i := range pods {
			t.uids = append(t.uids, pods[i].UID)
		}
	}
	return 0, false
}

// added is the result of adding a pod to the table.
type added uint8

const (
	alone   added = iota
	twin          // a pod of the table has the same UID
	crowded       // the first maxProbe slots for the UID are taken
)

// add adds the pod at place i. All places in the table must be places in pods.
func (t *placeTable) add(pods []Pod, i int) added {
	uid := pods[i].UID
	h, mask := hash(uid), uint64(len(t.slots)-1)
	for probe := range uint64(maxProbe) {
		slot := &t.slots[(h+probe)&mask]
		switch {
		case *slot == freeSlot:
			*slot = placeSlot(h&upperHalf | uint64(i+1))
			return alone
		case *slot == deadSlot, uint64(*slot)&upperHalf != h&upperHalf:
		case pods[uint32(*slot)-1].UID == uid:
			return twin
		}
	}
	return crowded
}

// follow updates the table if most pods have kept their places. It returns false if they have not,
// or if two pods have the same UID. The table must then be rebuilt.
func (t *placeTable) follow(pods []Pod) bool {
	if !t.findMoved(pods) {
		return false
	}

	for _, i := range t.moved {
		if int(i) < len(t.uids) {
			t.remove(int(i))
		}
	}

	for len(t.uids) < len(pods) {
		t.uids = append(t.uids, "")
	}
	t.uids = t.uids[:len(pods)]

	for _, i := range t.moved {
		if int(i) >= len(pods) {
			continue
		}
		if t.add(pods, int(i)) != alone {
			return false
		}
		t.uids[i] = pods[i].UID
	}
	return true
}

// findMoved lists the places whose pod is not the same as in the previous snapshot, including
// places that only one of the two snapshots has. It returns false if there are so many that a new
// table costs less.
func (t *placeTable) findMoved(pods []Pod) bool {
	both, most := min(len(t.uids), len(pods)), len(pods)/16
	t.moved = t.moved[:0]
	if len(t.uids) == 0 || len(t.uids)+len(pods)-2*both > most || 2*len(pods) > len(t.slots) {
		return false
	}

	for i := range both {
		if t.uids[i] != pods[i].UID {
			if t.moved = append(t.moved, int32(i)); len(t.moved) > most {
				return false
			}
		}
	}

	for i := both; i < max(len(t.uids), len(pods)); i++ {
		t.moved = append(t.moved, int32(i))
	}

	return t.dead+len(t.moved) <= len(t.slots)/8
}

// remove removes the pod at place i.
func (t *placeTable) remove(i int) {
	h, mask := hash(t.uids[i]), uint64(len(t.slots)-1)
	for probe := range uint64(maxProbe) {
		slot := &t.slots[(h+probe)&mask]
		if *slot == placeSlot(h&upperHalf|uint64(i+1)) {
			*slot = deadSlot
			t.dead++
			return
		}
	}
}

// firstTwinOf is firstTwin for UIDs that were made to collide. It uses a Go map.
func firstTwinOf(pods []Pod) (place int, found bool) {
	seen := make(map[UID]struct{}, len(pods))
	for i := range pods {
		seen[pods[i].UID] = struct{}{}
		if len(seen) == i {
			return i, true
		}
	}
	return 0, false
}

// podField returns the path of a pod's field. It uses the pod's name, because its place depends on
// the order of the snapshot (B3).
func podField(pod *Pod, field string) string { return fmt.Sprintf("pods[%s].%s", pod.Name, field) }
