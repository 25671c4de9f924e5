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
// does not fit, none of the others does. Gangs share a line only if the same number of their pods
// must get a node together.
type scheduler struct {
	e     *engine
	own   Scheduler
	lines []*line
	byFit map[fit]*line
	// waiting counts the tickets of all lines. came counts all pods and gangs that have ever
	// waited.
	waiting int
	came    int64
	// since has the time at which each waiting pod came, and order its number in the order of arrival.
	// Only World.Scheduler needs both.
	since map[int32]int64
	order map[int32]int64
	// reserved are the places on nodes that World.Scheduler has chosen for pods of incomplete gangs.
	reserved []reservation
}

// fit holds the needs of one pod, and how many such pods must get nodes together: 0 for a single
// pod.
type fit struct {
	need     room
	together int
}

// line is a queue of pods with the same needs, or of gangs.
type line struct {
	fit
	tickets fifo[ticket]
}

// ticket is the place of a pod or a gang in a line. The ticket is void once timer differs from the
// timer of the pod, or from the turn of the gang.
type ticket struct {
	id    int32
	gang  *gang
	timer uint32
	came  int64
	since int64
}

func (s *scheduler) init(e *engine) {
	s.e, s.own = e, e.world.Scheduler
	s.byFit = map[fit]*line{}
	if s.own != nil {
		s.since, s.order = map[int32]int64{}, map[int32]int64{}
	}
}

// add adds a pod that waits for a node.
func (s *scheduler) add(id int32, p *pod) {
	g := gangOf(p)
	if g != nil {
		g.waiting = append(g.waiting, id)
	}

	switch {
	case s.own != nil:
		s.came++
		s.since[id], s.order[id] = s.e.now, s.came
	case g != nil:
		if s.regroup(g); g.single {
			s.push(fit{need: needOf(p)}, ticket{id: id, timer: p.timer})
		}
	default:
		if s.waiting == 0 {
			if node, ok := s.e.nodes.first(needOf(p)); ok {
				s.came++
				s.e.bindPod(id, node)
				return
			}
		}
		s.push(fit{need: needOf(p)}, ticket{id: id, timer: p.timer})
	}
	s.run()
	s.e.scaler.wake()
}

// push puts a ticket at the end of its line.
func (s *scheduler) push(f fit, t ticket) {
	l := s.byFit[f]
	if l == nil {
		l = &line{fit: f}
		s.byFit[f] = l
		s.lines = append(s.lines, l)
	}
	s.came++
	t.came, t.since = s.came, s.e.now
	l.tickets.push(t)
	s.waiting++
}

// remove removes a pod that does not wait any more.
func (s *scheduler) remove(id int32, p *pod) {
	if s.own != nil {
		delete(s.since, id)
		delete(s.order, id)
	}
	if g := gangOf(p); g != nil && g.leave(id) {
		s.regroup(g)
	}
}

// run binds pods while there is room.
func (s *scheduler) run() {
	if s.waiting == 0 && len(s.since) == 0 {
		return
	}
	if s.own != nil {
		s.own.Schedule(&Pending{s.e})
		s.settle()
		return
	}
	for s.bindNext() {
	}
}

// bindNext binds the pod or the gang that has waited longest of those that fit.
func (s *scheduler) bindNext() bool {
	var best *line
	var where int32
	for _, l := range s.lines {
		s.drop(l)
		if l.tickets.len() == 0 {
			continue
		}

		first := l.first()
		switch {
		case best != nil && first.came > best.first().came:
		case first.gang == nil:
			if node, ok := s.e.nodes.first(l.need); ok {
				best, where = l, node
			}
		case s.e.nodes.total(l.need) >= l.together:
			best = l
		}
	}

	if best == nil {
		return false
	}
	s.waiting--
	t := best.tickets.pop()
	if t.gang != nil {
		s.bindGang(t.gang, s.e.nodes.places(best.need, len(t.gang.waiting)))
		return true
	}
	s.bindOne(t.id, where)
	return true
}

// first returns the first ticket of a line.
func (l *line) first() ticket { return l.tickets.items[l.tickets.head] }

// drop removes void tickets from the front of a line.
func (s *scheduler) drop(l *line) {
	for l.tickets.len() > 0 {
		if t := l.first(); !s.isVoid(&t) {
			return
		}
		l.tickets.pop()
		s.waiting--
	}
}

func (s *scheduler) isVoid(t *ticket) bool {
	if t.gang != nil {
		return t.gang.turn != t.timer
	}
	p := &s.e.pods.all[t.id]
	return p.timer != t.timer || p.state != podPending
}

// sortedIDs returns the keys in increasing order.
func sortedIDs(m map[int32]struct{}) []int32 { return slices.Sorted(maps.Keys(m)) }
