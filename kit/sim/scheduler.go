package sim

import (
	"maps"
	"slices"
	"time"
)

// Scheduler chooses nodes for pods.
type Scheduler interface {
	// Schedule is called whenever pods wait and something has changed. It binds as many as
	// it wants to, and may evict others to make room.
	Schedule(q *Pending)
}

// Pending are the pods that wait, in the order in which they came, and the nodes.
type Pending struct{ e *engine }

// PendingPod is a pod that waits for a node.
type PendingPod struct {
	id   int32
	Job  string
	Name string
	// Since is when it came to the scheduler.
	Since time.Duration
	Resources
}

// Pods returns the pods that wait, the oldest first.
func (q *Pending) Pods() []PendingPod {
	s := &q.e.scheduler
	var out []PendingPod
	for _, id := range slices.SortedFunc(maps.Keys(s.since), func(a, b int32) int { return int(s.order[a]) - int(s.order[b]) }) {
		p := &q.e.pods.all[id]
		out = append(out, PendingPod{id, p.of.truth.Name, p.Name, time.Duration(s.since[id]), p.of.of.Pod.Resources})
	}
	return out
}

// Room returns what is left on a node: pods and resources; no pods fit on one that is closed.
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
	n := &q.e.nodes.all[node]
	if n.closed > 0 || !n.room.fits(needOf(&q.e.pods.all[p.id])) {
		return false
	}
	delete(s.since, p.id)
	delete(s.order, p.id)
	q.e.bindPod(p.id, int32(node))
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

// On returns the pods on a node that are not being deleted, in an order that is always the same.
func (q *Pending) On(node int) []BoundPod {
	var out []BoundPod
	for _, id := range sortedIDs(q.e.nodes.all[node].pods) {
		p := &q.e.pods.all[id]
		if p.Deletion == nil {
			out = append(out, BoundPod{id, p.life, p.of.truth.Name, p.Name, time.Duration(p.running), p.of.of.Pod.Resources})
		}
	}
	return out
}

// Evict deletes a pod on a node with the condition DisruptionTarget, as a scheduler does that preempts
// it. Its room is free once it has ended, within its grace period, and Schedule is called then. It
// reports false if the pod has ended or is being deleted.
func (q *Pending) Evict(p BoundPod) bool {
	b := &q.e.pods.all[p.id]
	if b.of == nil || b.life != p.life || b.Deletion != nil || b.state == podEnded {
		return false
	}
	q.e.evict(p.id)
	return true
}

// scheduler holds the pods that wait. Pods with the same needs wait in one line: if the
// first of a line does not fit, none of it does.
type scheduler struct {
	e     *engine
	own   Scheduler
	lines []*line
	byFit map[room]*line
	// waiting counts the pods of all lines, came those that have ever come.
	waiting int
	came    int64
	running bool
	again   bool
	// since and order hold the pods of a scheduler of one's own.
	since map[int32]int64
	order map[int32]int64
}

// line is where pods with the same needs wait.
type line struct {
	need room
	pods fifo[ticket]
}

// ticket is the place of a pod in a line. It is void if the pod has another timer now.
type ticket struct {
	id    int32
	timer uint32
	came  int64
}

func (s *scheduler) init(e *engine) {
	s.e, s.own = e, e.world.Scheduler
	s.byFit = map[room]*line{}
	if s.own != nil {
		s.since, s.order = map[int32]int64{}, map[int32]int64{}
	}
}

// add lets a pod wait for a node.
func (s *scheduler) add(id int32, p *pod) {
	s.came++
	if s.own != nil {
		s.since[id], s.order[id] = s.e.now, s.came
		s.run()
		return
	}
	need := needOf(p)
	if s.waiting == 0 {
		if node, ok := s.e.nodes.first(need); ok {
			s.e.bindPod(id, node)
			return
		}
	}
	l := s.byFit[need]
	if l == nil {
		l = &line{need: need}
		s.byFit[need] = l
		s.lines = append(s.lines, l)
	}
	l.pods.push(ticket{id, p.timer, s.came})
	s.waiting++
	s.run()
}

// remove takes a pod out that does not wait any more.
func (s *scheduler) remove(id int32, _ *pod) {
	if s.own != nil {
		delete(s.since, id)
		delete(s.order, id)
	}
}

// run binds pods while there is room.
func (s *scheduler) run() {
	if s.waiting == 0 && len(s.since) == 0 {
		return
	}
	if s.running {
		s.again = true // a pod that is being bound has changed something
		return
	}
	s.running = true
	defer func() { s.running = false }()
	for s.again = true; s.again; {
		s.again = false
		if s.own != nil {
			s.own.Schedule(&Pending{s.e})
			continue
		}
		for s.bindOne() {
		}
	}
}

// bindOne binds the pod that has waited longest of those that fit.
func (s *scheduler) bindOne() bool {
	var best *line
	var where int32
	for _, l := range s.lines {
		s.drop(l)
		if l.pods.len() == 0 || best != nil && l.pods.items[l.pods.head].came > best.pods.items[best.pods.head].came {
			continue
		}
		if node, ok := s.e.nodes.first(l.need); ok {
			best, where = l, node
		}
	}
	if best == nil {
		return false
	}
	s.waiting--
	s.e.bindPod(best.pods.pop().id, where)
	return true
}

// drop removes void tickets from the front of a line.
func (s *scheduler) drop(l *line) {
	for l.pods.len() > 0 {
		t := l.pods.items[l.pods.head]
		if p := &s.e.pods.all[t.id]; p.timer == t.timer && p.state == podPending {
			return
		}
		l.pods.pop()
		s.waiting--
	}
}

// sortedIDs returns the keys in increasing order.
func sortedIDs(m map[int32]struct{}) []int32 { return slices.Sorted(maps.Keys(m)) }
