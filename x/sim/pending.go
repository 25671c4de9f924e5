package sim

import (
	"maps"
	"slices"
	"time"
)

// Pending shows a [Scheduler] the pods that wait for a node, and the nodes.
type Pending struct{ e *engine }

// PendingPod is a pod that waits for a node.
type PendingPod struct {
	id   int32
	Job  string
	Name string
	// Since is when the pod came to the scheduler.
	Since time.Duration
	// Together is the number of pods of the gang that must be bound in one call of Schedule: if
	// fewer are bound, none of them gets its node. If Together is at most 1, the pod gets its node
	// in any case.
	Together int
	Resources
}

// Pods returns the pods that wait, the oldest first. Pods of a gang that lacks pods are not among them.
func (q *Pending) Pods() []PendingPod {
	s := &q.e.scheduler
	var out []PendingPod

	byOrder := func(a, b int32) int { return int(s.order[a]) - int(s.order[b]) }
	for _, id := range slices.SortedFunc(maps.Keys(s.since), byOrder) {
		p := &q.e.pods.all[id]
		together := 0
		if g := gangOf(p); g != nil {
			if !g.isComplete() {
				continue
			}
			together = g.missing()
		}

		out = append(out, PendingPod{
			id:        id,
			Job:       p.of.truth.Name,
			Name:      p.Name,
			Since:     time.Duration(s.since[id]),
			Together:  together,
			Resources: p.of.of.Pod.Resources,
		})
	}
	return out
}

// Room returns how many more pods fit on a node, and which resources are left. A closed node has no
// room.
func (q *Pending) Room(node int) (pods int, left Resources) {
	n := &q.e.nodes.all[node]
	if n.closed > 0 {
		return 0, Resources{}
	}
	return int(n.room.pods), Resources{n.room.cpu, n.room.memory}
}

// Nodes returns the number of nodes.
func (q *Pending) Nodes() int { return len(q.e.nodes.all) }

// Bind puts a pod on a node; it reports false if the pod does not wait or does not fit.
func (q *Pending) Bind(p PendingPod, node int) bool {
	s := &q.e.scheduler
	if _, waits := s.since[p.id]; !waits || node < 0 || node >= len(q.e.nodes.all) {
		return false
	}

	n, waiting := &q.e.nodes.all[node], &q.e.pods.all[p.id]
	if n.closed > 0 || !n.room.fits(needOf(waiting)) {
		return false
	}

	r := reservation{p.id, int32(node), s.since[p.id], s.order[p.id]}
	delete(s.since, p.id)
	delete(s.order, p.id)
	if g := gangOf(waiting); g != nil && g.missing() > 1 {
		s.reserved = append(s.reserved, r)
		q.e.nodes.reserve(r.node, needOf(waiting))
		return true
	}
	s.bindOne(r.id, r.node)
	return true
}

// BoundPod is a pod that is on a node.
type BoundPod struct {
	id   int32
	life uint32
	Job  string
	Name string
	// Since is when its containers started, or None.
	Since time.Duration
	Resources
}

// On returns the pods on a node that are not being deleted, always in the same order.
func (q *Pending) On(node int) []BoundPod {
	var out []BoundPod
	for _, id := range sortedIDs(q.e.nodes.all[node].pods) {
		p := &q.e.pods.all[id]
		if p.Deletion == nil {
			out = append(out, BoundPod{
				id:        id,
				life:      p.life,
				Job:       p.of.truth.Name,
				Name:      p.Name,
				Since:     time.Duration(p.running),
				Resources: p.of.of.Pod.Resources,
			})
		}
	}
	return out
}

// Evict deletes a pod on a node with the condition DisruptionTarget, as a preempting scheduler
// does. The pod ends within its grace period. Then its room is free, and Schedule is called. Evict
// reports false if the pod has ended or is being deleted.
func (q *Pending) Evict(p BoundPod) bool {
	b := &q.e.pods.all[p.id]
	isThere := b.of != nil && b.life == p.life
	if !isThere || b.Deletion != nil || b.state == podEnded {
		return false
	}
	q.e.evict(p.id)
	return true
}
