package sim

import (
	"maps"
	"slices"
)

// Scheduler chooses nodes for pods.
type Scheduler interface {
	// Schedule is called whenever pods wait and something has changed. It binds as many as
	// it wants to, and may evict others to make room.
	Schedule(q *Pending)
}

// scheduler holds the pods that wait. Pods with the same needs wait in one line: if the first one
// does not fit, none of the others does.
type scheduler struct {
	e     *engine
	own   Scheduler
	lines []*line
	byFit map[room]*line
	// waiting counts the pods of all lines, came all pods that have ever waited.
	waiting int
	came    int64
	// since and order have the waiting pods for World.Scheduler.
	since map[int32]int64
	order map[int32]int64
}

// line is a queue of pods with the same needs.
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

// add adds a pod that waits for a node.
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

// remove removes a pod that does not wait any more.
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
	if s.own != nil {
		s.own.Schedule(&Pending{s.e})
		return
	}
	for s.bindOne() {
	}
}

// bindOne binds the pod that has waited longest of those that fit.
func (s *scheduler) bindOne() bool {
	var best *line
	var where int32
	for _, l := range s.lines {
		s.drop(l)
		if l.pods.len() == 0 {
			continue
		}
		if best != nil && l.first().came > best.first().came {
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

// first returns the first ticket of a line.
func (l *line) first() ticket { return l.pods.items[l.pods.head] }

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
