package sim

import (
	"math"
	"time"
)

// nodes are the nodes of the world. A tree finds the first node with room. The number of steps
// grows with the logarithm of the number of nodes.
type nodes struct {
	all []node
	// size is the number of leaves of the tree, a power of two. The node with number 1 is
	// the root, and the children of n are 2n and 2n+1.
	size int
	tree []room
	// totals has the results of method total for the needs of the gangs that have waited.
	totals map[room]int
	// keep is true if nodes may be disrupted, or a scheduler may evict pods: then each node lists its pods.
	keep bool
}

// node is one machine.
type node struct {
	spec *Node
	room room
	// pods are the pods on the node, if nodes.keep is set.
	pods   map[int32]struct{}
	closed int // disruptions that keep pods away
	lost   bool
	fate   fate
	// count is the number of pods on the node. busySince is when the node last stopped being empty.
	// busy is the total time of the earlier periods with pods.
	count           int
	busySince, busy int64
	// group is the group of an autoscaler, or nil. emptyAt is when the node became empty, or -1 if it is
	// not there. starts is true while it starts.
	group   *group
	emptyAt int64
	starts  bool
}

// room is what is free on a node, or the most that is free on any of several nodes.
type room struct {
	pods        int64
	cpu, memory int64
}

func (r room) fits(need room) bool {
	return r.pods >= need.pods && r.cpu >= need.cpu && r.memory >= need.memory
}

// holds returns how many pods with these needs fit.
func (r room) holds(need room) int {
	if r.pods <= 0 {
		return 0
	}
	most := r.pods // each pod takes one place
	if need.cpu > 0 {
		most = min(most, r.cpu/need.cpu)
	}
	if need.memory > 0 {
		most = min(most, r.memory/need.memory)
	}
	return int(max(most, 0))
}

const defaultNodePods = 110

func (n *nodes) init(specs []Node, keep bool) {
	n.keep, n.totals = keep, map[room]int{}
	n.all = make([]node, len(specs))
	for n.size = 1; n.size < len(specs); n.size *= 2 {
	}

	n.tree = make([]room, 2*n.size)
	for i := range n.tree {
		n.tree[i] = room{pods: -1}
	}

	for i := range specs {
		n.all[i] = node{spec: &specs[i], room: roomOf(&specs[i]), pods: map[int32]struct{}{}, fate: fate{since: -1}}
		n.update(i)
	}
}

// roomOf returns what is free on an empty node.
func roomOf(s *Node) room {
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
	return r
}

// update updates the search tree after the machine with index i has changed.
func (n *nodes) update(i int) {
	at := n.size + i
	before := n.tree[at]
	n.tree[at] = n.all[i].room
	if n.all[i].closed > 0 {
		n.tree[at] = room{pods: -1}
	}
	for need := range n.totals {
		n.totals[need] += n.tree[at].holds(need) - before.holds(need)
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

// search searches below one node of the tree. The maxima of a subtree may come from different
// nodes, so search sometimes has to go back.
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

// couldFit reports whether a pod fits on an empty node.
func (n *nodes) couldFit(need room) bool {
	fits := func(limit, need int64) bool { return limit == 0 || limit >= need }
	for i := range n.all {
		if s := n.all[i].spec; fits(s.CPU, need.cpu) && fits(s.Memory, need.memory) {
			return true
		}
	}
	return len(n.all) == 0
}

func needOf(p *pod) room { return p.of.need() }

// need returns what a pod of the job needs.
func (js *jobState) need() room {
	r := &js.of.Pod.Resources
	return room{1, r.CPU, r.Memory}
}

// total returns how many pods with these needs fit on all nodes together.
func (n *nodes) total(need room) int {
	if len(n.all) == 0 {
		return math.MaxInt
	}
	if _, isKept := n.totals[need]; !isKept {
		sum := 0
		for i := range n.all {
			sum += n.tree[n.size+i].holds(need)
		}
		n.totals[need] = sum
	}
	return n.totals[need]
}

// places returns nodes for as many pods with the same needs as fit, at most the given number. Each
// pod gets the first node that has room beside the pods placed before it.
func (n *nodes) places(need room, pods int) (on []int32) {
	for len(on) < pods {
		node, ok := n.first(need)
		if !ok {
			break
		}
		n.reserve(node, need)
		on = append(on, node)
	}
	for _, node := range on {
		n.free(node, need)
	}
	return on
}

// reserve takes room on a node, and free gives it back.
func (n *nodes) reserve(i int32, need room) {
	if i < 0 {
		return
	}
	r := &n.all[i].room
	r.pods, r.cpu, r.memory = r.pods-need.pods, r.cpu-need.cpu, r.memory-need.memory
	n.update(int(i))
}

func (n *nodes) free(i int32, need room) {
	n.reserve(i, room{-need.pods, -need.cpu, -need.memory})
}

func (n *nodes) take(i, id int32, p *pod, now int64) {
	if i < 0 {
		return
	}
	if n.all[i].count++; n.all[i].count == 1 {
		n.all[i].busySince = now
	}

	if n.keep {
		n.all[i].pods[id] = struct{}{}
	}
	n.reserve(i, needOf(p))
}

func (n *nodes) release(i, id int32, p *pod, now int64) {
	if i < 0 {
		return
	}
	if n.all[i].count--; n.all[i].count == 0 {
		n.all[i].busy += now - n.all[i].busySince
	}

	if n.keep {
		delete(n.all[i].pods, id)
	}
	n.free(i, needOf(p))
}

// costs returns two costs of the nodes until a time: for the whole time in which they exist, and
// for the time in which they have pods.
func (n *nodes) costs(end int64) (all, busy float64) {
	const hour = float64(time.Hour)
	for i := range n.all {
		m := &n.all[i]
		there, used := end-m.fate.gone, m.busy
		if m.fate.since >= 0 {
			there -= max(end-m.fate.since, 0)
		}
		if m.count > 0 {
			used += end - m.busySince
		}

		all += m.spec.Price * float64(max(there, 0)) / hour
		busy += m.spec.Price * float64(used) / hour
	}
	return all, busy
}
