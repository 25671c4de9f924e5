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
// bytes a slot, a third of those of a uidTable, because the table of a large job does not fit
// into the processor's cache.
type placeTable struct{ slots []placeSlot }

// placeSlot holds the upper half of a hash, and below it the place of the pod, from 1; 0 is
// a free slot.
type placeSlot uint64

// firstTwin returns the place of the first pod whose UID is also that of an earlier one.
func (t *placeTable) firstTwin(pods []Pod) (place int, found bool) {
	const upper = 1<<64 - 1<<32
	t.slots = emptied(t.slots, len(pods))
	mask := uint64(len(t.slots) - 1)
	for i := range pods {
		uid := pods[i].UID
		h := hash(uid)
		for probes := uint64(0); ; probes++ {
			slot := &t.slots[(h+probes)&mask]
			if *slot == 0 {
				*slot = placeSlot(h&upper | uint64(i+1))
				break
			}
			if uint64(*slot)&upper == h&upper && pods[uint32(*slot)-1].UID == uid {
				return i, true
			}
			if probes == maxProbe {
				return firstTwinOf(pods)
			}
		}
	}
	return 0, false
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

// writesSomething reports whether the plan writes if all goes well.
func writesSomething(plan *Plan) bool {
	if len(plan.Adopt)+len(plan.Release)+len(plan.Delete)+len(plan.Create)+len(plan.Untrack) > 0 {
		return true
	}
	return plan.Record(Writes{}).Write
}

// podField names a field of a pod by what does not depend on the order of the
// snapshot (B3).
func podField(pod *Pod, field string) string { return fmt.Sprintf("pods[%s].%s", pod.Name, field) }
