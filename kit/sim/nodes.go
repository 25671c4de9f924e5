package sim

import (
	"math"
	"time"
)

// nodes are the machines. A tree over them finds the first one with room in steps that
// grow with the logarithm of their number.
type nodes struct {
	all []node
	// size is the number of leaves of the tree, a power of two. The node with number 1 is
	// the root, and the children of n are 2n and 2n+1.
	size int
	tree []room
	// keep is true if nodes are going to be disrupted, or a scheduler may evict pods: then each
	// knows its pods.
	keep bool
}

// node is one machine.
type node struct {
	spec *Node
	room room
	// pods are those that run there.
	pods   map[int32]struct{}
	closed int // disruptions that keep pods away
	lost   bool
	fate   fate
	// count is the number of its pods, busySince when it got the first of them, and busy how long it
	// had some before.
	count           int
	busySince, busy int64
}

// room is what is left on a node, or the most that is left on any of several.
type room struct {
	pods        int64
	cpu, memory int64
}

func (r room) fits(need room) bool {
	return r.pods >= need.pods && r.cpu >= need.cpu && r.memory >= need.memory
}

const defaultNodePods = 110

func (n *nodes) init(specs []Node, keep bool) {
	n.keep = keep
	n.all = make([]node, len(specs))
	for n.size = 1; n.size < len(specs); n.size *= 2 {
	}
	n.tree = make([]room, 2*n.size)
	for i := range n.tree {
		n.tree[i] = room{pods: -1}
	}
	for i := range specs {
		s := &specs[i]
		r := room{pods: int64(s.Pods), cpu: s.CPU, memory: s.Memory}
		if r.pods == 0 {
			r.pods = defaultNodePods
		}
		if r.cpu == 0 {
			r.cpu = math.MaxInt64 / 2
		}
		if r.memory == 0 {
			r.memory = math.MaxInt64 / 2
		}
		n.all[i] = node{spec: s, room: r, pods: map[int32]struct{}{}, fate: fate{since: -1}}
		n.update(i)
	}
}

// update brings the tree up to date with a node.
func (n *nodes) update(i int) {
	at := n.size + i
	n.tree[at] = n.all[i].room
	if n.all[i].closed > 0 {
		n.tree[at] = room{pods: -1}
	}
	for at /= 2; at > 0; at /= 2 {
		a, b := n.tree[2*at], n.tree[2*at+1]
		n.tree[at] = room{max(a.pods, b.pods), max(a.cpu, b.cpu), max(a.memory, b.memory)}
	}
}

// first returns the first node with that much room.
func (n *nodes) first(need room) (int32, bool) {
	if len(n.all) == 0 {
		return -1, true
	}
	return n.search(1, need)
}

// search looks below one node of the tree. The maxima may come from different nodes, so
// that it sometimes has to turn back.
func (n *nodes) search(at int, need room) (int32, bool) {
	if !n.tree[at].fits(need) {
		return 0, false
	}
	if at >= n.size {
		return int32(at - n.size), true
	}
	if found, ok := n.search(2*at, need); ok {
		return found, true
	}
	return n.search(2*at+1, need)
}

// couldFit reports whether a pod fits on a node that is empty.
func (n *nodes) couldFit(need room) bool {
	for i := range n.all {
		if s := n.all[i].spec; (s.CPU == 0 || s.CPU >= need.cpu) && (s.Memory == 0 || s.Memory >= need.memory) {
			return true
		}
	}
	return len(n.all) == 0
}

func needOf(p *pod) room {
	r := &p.of.of.Pod.Resources
	return room{1, r.CPU, r.Memory}
}

func (n *nodes) take(i, id int32, p *pod, now int64) {
	if i < 0 {
		return
	}
	if n.all[i].count++; n.all[i].count == 1 {
		n.all[i].busySince = now
	}
	need := needOf(p)
	r := &n.all[i].room
	r.pods, r.cpu, r.memory = r.pods-need.pods, r.cpu-need.cpu, r.memory-need.memory
	if n.keep {
		n.all[i].pods[id] = struct{}{}
	}
	n.update(int(i))
}

func (n *nodes) release(i, id int32, p *pod, now int64) {
	if i < 0 {
		return
	}
	if n.all[i].count--; n.all[i].count == 0 {
		n.all[i].busy += now - n.all[i].busySince
	}
	need := needOf(p)
	r := &n.all[i].room
	r.pods, r.cpu, r.memory = r.pods+need.pods, r.cpu+need.cpu, r.memory+need.memory
	if n.keep {
		delete(n.all[i].pods, id)
	}
	n.update(int(i))
}

// The delays after which the pods of a lost node become unready, and are deleted.
const (
	unreachableAfter = 40 * time.Second
	evictedAfter     = unreachableAfter + 300*time.Second
)

// disrupt begins a disruption of a node.
func (e *engine) disrupt(index int32) {
	d := &e.world.Disruptions[index]
	n := &e.nodes.all[d.Node]
	n.closed++
	e.nodes.update(d.Node)
	if d.Back > 0 {
		e.at(int64(d.Back), evBack, index, 0)
	}
	if d.Kind == NodeDrained {
		for _, id := range sortedIDs(n.pods) {
			e.evict(id)
		}
		return
	}
	n.lost = true
	for _, id := range sortedIDs(n.pods) {
		p := &e.pods.all[id]
		p.lost = true
		p.timer++ // whatever it does, nobody hears of it
	}
	e.at(e.now+int64(unreachableAfter), evUnreachable, index, 0)
	e.at(e.now+int64(evictedAfter), evEvict, index, 0)
	if d.Removed > 0 {
		e.at(int64(d.Removed), evRemoved, index, 0)
	}
}

// evict deletes a pod with the condition DisruptionTarget.
func (e *engine) evict(id int32) {
	p := &e.pods.all[id]
	if p.Deletion != nil || p.state == podEnded {
		return
	}
	e.addCondition(p)
	e.deletePod(id, p)
	e.result.Evictions++
}

func (e *engine) addCondition(p *pod) {
	e.changeDetail(p).Conditions = disrupted
}

func (e *engine) unreachable(d *Disruption) {
	for _, id := range e.lostOn(d.Node) {
		if p := &e.pods.all[id]; p.Ready {
			e.setReady(id, p, false)
		}
	}
}

// lostOn returns the pods of a node if it is still lost.
func (e *engine) lostOn(node int) []int32 {
	if n := &e.nodes.all[node]; n.lost {
		return sortedIDs(n.pods)
	}
	return nil
}

func (e *engine) evictLost(d *Disruption) {
	for _, id := range e.lostOn(d.Node) {
		e.evict(id)
	}
}

// removeNode ends the pods of a lost node whose object is deleted.
func (e *engine) removeNode(d *Disruption) {
	for _, id := range e.lostOn(d.Node) {
		p := &e.pods.all[id]
		if p.Deletion == nil {
			e.result.Evictions++
		}
		e.addCondition(p)
		p.run.ExitCode, p.run.Disrupted = exitKilled, true
		e.endPod(id, p)
		e.deletePod(id, p)
	}
	e.nodes.all[d.Node].lost = false // nothing is left to come back
}

// nodeBack lets a node take pods again. Those that it still has continue.
func (e *engine) nodeBack(d *Disruption, byChance bool) {
	n := &e.nodes.all[d.Node]
	n.closed--
	if byChance {
		e.isBack(int32(d.Node))
	}
	if d.Kind == NodeLost && n.lost {
		n.lost = false
		for _, id := range sortedIDs(n.pods) {
			e.heardOf(id, &e.pods.all[id])
		}
	}
	e.nodes.update(d.Node)
	e.scheduler.run()
}

// heardOf lets a pod continue whose node is back.
func (e *engine) heardOf(id int32, p *pod) {
	p.lost = false
	p.timer++
	switch {
	case p.Deletion != nil:
		e.stopPod(id, p, p.of.grace())
	case p.state == podBound:
		e.at(e.now, evStart, id, p.timer)
	default:
		e.setReady(id, p, true)
		e.at(max(e.now, p.running+int64(p.run.For)), evEnd, id, p.timer)
	}
}
