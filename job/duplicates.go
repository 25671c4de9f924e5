package job

import "fmt"

// checkDuplicates refuses two pods with one UID. It looks at all pods, so a round calls
// it only if it is going to write something. Otherwise such a pair does no harm.
func checkDuplicates(pods []Pod, places *placeTable) error {
	if i, found := places.firstTwin(pods); found {
		return invalid(podField(&pods[i], "uid"), string(pods[i].UID), "is the UID of two pods")
	}
	return nil
}

// placeTable finds equal UIDs. It holds the places of pods by the hash of their UID: eight
// bytes a slot, a third of what a uidTable takes, because the table of a large job does not fit
// into the processor's cache. Where most pods of a large job are where they were in the
// snapshot before, it looks only at the others.
type placeTable struct {
	slots []placeSlot
	// uids are those that the slots hold, by place. Empty means that they are not known.
	uids []UID
	// dead counts the slots whose pod has moved or gone; moved is a buffer.
	dead  int
	moved []int32
}

// placeSlot holds the upper half of a hash, and below it the place of the pod, from 1.
type placeSlot uint64

const (
	freeSlot placeSlot = 0
	deadSlot placeSlot = 1<<32 - 1
	// upperHalf are the bits of the hash in a slot.
	upperHalf = 1<<64 - 1<<32
	// largeJob is the number of pods from which on the table is kept.
	largeJob = 1024
)

// firstTwin returns the place of the first pod whose UID an earlier one has as well.
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

// added is what happened to a pod that is new in the table.
type added uint8

const (
	alone   added = iota
	twin          // a pod of the table has the same UID
	crowded       // maxProbe others are in the way
)

// add adds a pod. The table holds places of these pods only.
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

// follow brings a table up to date whose pods are mostly where they were. It reports false if
// they are not, or if two have one UID: then the table is to be made anew.
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

// findMoved lists the places that hold another pod than before, or none, in either snapshot. It
// reports false if there are so many that a new table costs less.
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

// remove takes the pod of a place out.
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

// firstTwinOf is the same for UIDs that were made to collide.
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

// podField names a field of a pod by what does not depend on the order of the
// snapshot (B3).
func podField(pod *Pod, field string) string { return fmt.Sprintf("pods[%s].%s", pod.Name, field) }
