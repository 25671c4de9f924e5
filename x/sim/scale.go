package sim

import (
	"math"
	"slices"
	"time"
)

// Scale makes an autoscaler add and remove nodes. The nodes of [World].Nodes with the same Scale
// are a group, and must have the same room. The group has no other nodes. The autoscaler looks
// every 10 seconds, like the Cluster Autoscaler. It adds as many nodes as the waiting pods need, of
// the first group in the list whose nodes have room for such a pod, and never moves a pod.
type Scale struct {
	// Min is the number of nodes that are there at the beginning and always remain.
	Min int
	// Wait is how long a pod waits for a node before one is added for it.
	Wait time.Duration
	// Start is how long an added node takes until it accepts pods. It is paid from the beginning.
	Start Dist
	// Idle is how long a node has no pods before it is removed. No node is removed while another starts.
	Idle time.Duration
}

// scaleInterval is the time between two looks of the autoscaler.
const scaleInterval = int64(10 * time.Second)

// scaler adds and removes nodes.
type scaler struct {
	e      *engine
	groups []*group
	// starting has the nodes that were added, until they accept pods. A few nodes of the list may
	// accept pods already. starts is the number of those that do not.
	starting []int32
	starts   int
	// lookAt is when the scaler looks at the pods that wait, or -1.
	lookAt int64
}

// group is the nodes with one Scale.
type group struct {
	*Scale
	// off has the nodes that are not there; the last one is added first. up counts those that accept
	// pods.
	off []int32
	up  int
	// idle has the nodes without pods, in the order in which they became empty. armed is true if an
	// event will look at the first of them.
	idle  fifo[emptied]
	armed bool
}

// emptied is an entry for a node that became empty. The entry is void if the node has pods now, or
// became empty again later.
type emptied struct {
	node int32
	at   int64
}

func (s *scaler) init(e *engine) {
	s.e, s.lookAt = e, -1
	for i := range e.nodes.all {
		n := &e.nodes.all[i]
		if n.spec.Scale == nil {
			continue
		}

		at := slices.IndexFunc(s.groups, func(g *group) bool { return g.Scale == n.spec.Scale })
		if at < 0 {
			at = len(s.groups)
			s.groups = append(s.groups, &group{Scale: n.spec.Scale})
		}
		g := s.groups[at]
		if n.group, n.emptyAt = g, -1; g.up < g.Min {
			g.up++
			s.emptied(int32(i))
			continue
		}

		g.off = append(g.off, int32(i))
		n.fate.since = 0
		n.closed++
		e.nodes.update(i)
	}

	for _, g := range s.groups {
		slices.Reverse(g.off)
	}
}

// next returns the time of the first look after now that is not before the given time.
func (s *scaler) next(not int64) int64 {
	at := max(not, s.e.now+1)
	return (at + scaleInterval - 1) / scaleInterval * scaleInterval
}

// wake makes the scaler look at the pods that wait, if there are any.
func (s *scaler) wake() {
	isOff := func(g *group) bool { return len(g.off) > 0 }
	waits := s.e.scheduler.waiting > 0 || len(s.e.scheduler.since) > 0
	if waits && slices.ContainsFunc(s.groups, isOff) {
		s.lookBy(s.next(s.e.now))
	}
}

func (s *scaler) lookBy(at int64) {
	if s.lookAt < 0 || at < s.lookAt {
		s.lookAt = at
		s.e.at(at, evScale, 0, 0)
	}
}

// look adds the nodes that the waiting pods need, besides those that start already.
func (s *scaler) look() {
	if s.e.now != s.lookAt {
		return // an earlier look took the place of this one
	}
	s.lookAt = -1
	a := addition{scaler: s, from: map[room]int{}, free: map[room]int{}, later: math.MaxInt64}
	s.starting = slices.DeleteFunc(s.starting, func(node int32) bool { return !s.e.nodes.all[node].starts })
	for _, node := range s.starting {
		if n := &s.e.nodes.all[node]; n.closed == 1 { // nothing but its start keeps pods away
			a.rooms = append(a.rooms, roomOf(n.spec))
		}
	}

	s.e.scheduler.eachWaiting(a.fit)
	if a.later < math.MaxInt64 {
		s.lookBy(s.next(a.later))
	}
}

// addition finds the nodes that the waiting pods need.
type addition struct {
	*scaler
	// rooms has the free room of each node that is starting, except disrupted ones. The nodes
	// before from[need] have no room for a pod with that need.
	rooms []room
	from  map[room]int
	// free has, for the pods of gangs, how many pods with these needs fit on the nodes that are
	// there.
	free map[room]int
	// later is when the next pod has waited long enough for a new node.
	later int64
}

// fit finds room for pods that must get nodes together. It reports whether there is room for all.
func (a *addition) fit(need room, pods int, since int64) bool {
	if pods > 1 {
		if _, isKnown := a.free[need]; !isKnown {
			a.free[need] = a.e.nodes.total(need)
		}
		there := min(pods, a.free[need])
		if a.most(need, since) < pods-there {
			return false
		}
		a.free[need] -= there
		pods -= there
	}

	for range pods {
		if !a.fitOne(need, since) {
			return false
		}
	}
	return true
}

// most returns for how many pods the nodes that start, or may be added, have room.
func (a *addition) most(need room, since int64) (pods int) {
	for _, r := range a.rooms[a.from[need]:] {
		pods += r.holds(need)
	}
	for _, g := range a.groups {
		for _, node := range g.off {
			n := &a.e.nodes.all[node]
			if r := roomOf(n.spec); n.closed == 1 && a.isTime(g, r, need, since) {
				pods += r.holds(need)
			}
		}
	}
	return pods
}

func (a *addition) fitOne(need room, since int64) bool {
	i := a.from[need]
	for i < len(a.rooms) && !a.rooms[i].fits(need) {
		i++
	}
	if i == len(a.rooms) && !a.add(need, since) {
		a.from[need] = i
		return false
	}

	r := &a.rooms[i]
	r.pods, r.cpu, r.memory = r.pods-need.pods, r.cpu-need.cpu, r.memory-need.memory
	a.from[need] = i
	return true
}

// add adds the first node that has room for a pod.
func (a *addition) add(need room, since int64) bool {
	for _, g := range a.groups {
		for i, node := range slices.Backward(g.off) {
			n := &a.e.nodes.all[node]
			r := roomOf(n.spec)
			if isDisrupted := n.closed > 1; isDisrupted {
				continue
			}
			if !a.isTime(g, r, need, since) {
				break // the nodes of a group are alike
			}

			g.off = slices.Delete(g.off, i, i+1)
			a.rooms = append(a.rooms, r)
			a.start(node)
			return true
		}
	}
	return false
}

// isTime reports whether a node may be added for a pod: it has room, and the pod has waited for long
// enough.
func (a *addition) isTime(g *group, r, need room, since int64) bool {
	due := since + int64(g.Wait)
	if r.fits(need) && due > a.e.now {
		a.later = min(a.later, due)
	}
	return r.fits(need) && due <= a.e.now
}

// start adds a node.
func (s *scaler) start(node int32) {
	n := &s.e.nodes.all[node]
	n.starts = true
	s.starts++
	s.starting = append(s.starting, node)
	s.e.result.NodesAdded++

	f := &n.fate
	f.gone += s.e.now - f.since
	f.since = -1
	f.drawn++
	r := s.e.chance.of(forNodes, node, purpose(f.drawn))
	s.e.at(s.e.now+int64(n.group.Start.Draw(r)), evNodeUp, node, 0)
}

// started lets a node accept pods.
func (s *scaler) started(node int32) {
	n := &s.e.nodes.all[node]
	n.starts = false
	n.closed--
	s.e.nodes.update(int(node))
	n.group.up++
	s.emptied(node)
	s.e.scheduler.run()
	s.wake()

	if s.starts--; s.starts == 0 {
		for _, g := range s.groups {
			s.arm(g)
		}
	}
}

// emptied notes that a node has no pods.
func (s *scaler) emptied(node int32) {
	n := &s.e.nodes.all[node]
	n.emptyAt = s.e.now
	n.group.idle.push(emptied{node, s.e.now})
	s.arm(n.group)
}

// arm schedules a look at the idle nodes of a group, if one of them could be removed.
func (s *scaler) arm(g *group) {
	s.drop(g)
	if g.armed || g.idle.len() == 0 {
		return
	}
	if g.up <= g.Min || s.starts > 0 {
		return
	}
	first := g.idle.items[g.idle.head]
	if at := s.next(first.at + int64(g.Idle)); at <= s.e.until {
		g.armed = true
		s.e.idle++
		s.e.at(at, evIdle, int32(slices.Index(s.groups, g)), 0)
	}
}

// drop removes void entries from the front of the idle nodes.
func (s *scaler) drop(g *group) {
	for g.idle.len() > 0 {
		first := g.idle.items[g.idle.head]
		if n := &s.e.nodes.all[first.node]; n.count == 0 && n.emptyAt == first.at {
			return
		}
		g.idle.pop()
	}
}

// removeIdle removes the nodes of a group that were idle for long enough. After all jobs have ended
// nothing more happens to nodes.
func (s *scaler) removeIdle(g *group) {
	g.armed = false
	if s.e.idle--; !s.e.hasWork() {
		return
	}
	s.look() // first, if it is due now: a node that is needed is not removed

	for s.drop(g); g.idle.len() > 0; s.drop(g) {
		first := g.idle.items[g.idle.head]
		isDue := first.at+int64(g.Idle) <= s.e.now
		if !isDue || g.up <= g.Min || s.starts > 0 {
			break
		}
		g.idle.pop()
		g.up--
		g.off = append(g.off, first.node)
		n := &s.e.nodes.all[first.node]
		n.emptyAt = -1
		n.fate.since = s.e.now
		n.closed++
		s.e.nodes.update(int(first.node))
	}
	s.arm(g)
	s.wake()
}

// eachWaiting calls a function for the pods that wait, in the order of the lines. It calls it once
// for a complete gang, with the number of pods that must get nodes together. If the function
// returns false, the rest of that line is left out.
func (s *scheduler) eachWaiting(call func(need room, pods int, since int64) bool) {
	if s.own != nil {
		for _, p := range (&Pending{s.e}).Pods() {
			call(room{1, p.CPU, p.Memory}, 1, int64(p.Since))
		}
		return
	}

	for _, l := range s.lines {
		s.drop(l)
		for _, t := range l.tickets.items[l.tickets.head:] {
			if s.isVoid(&t) {
				continue
			}
			if !call(l.need, max(l.together, 1), t.since) {
				break
			}
		}
	}
}
